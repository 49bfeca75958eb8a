/** A backup of a program that sends, restored on another database, after the program was killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { findMiscounts } from "#cli/doctor/counters.ts";
import { runCli } from "#cli/program.ts";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { mailDomain, openScene, platform, type Scene } from "#test/support/scene.ts";

const BOOTSTRAP_API_KEY = `efk_${"bac0".repeat(10)}`;
const SECRET_KEY = "the secret key of both installations";

/** Sends one message after the other until it is stopped; `accepted` has the ids of those that were answered. */
async function writeUntil(
  scene: Scene,
  name: string,
  signal: AbortSignal,
  accepted: string[],
): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const id = await scene.send(`${name}${number}@example.test`).catch(() => undefined);
    if (id !== undefined) accepted.push(id);
  }
}

const copiesOf = (id: string) => `<${id}@${platform.PLATFORM_FROM.split("@")[1]}>`;
const answer = async (program: Program, ...words: string[]) =>
  JSON.parse(await program.command(...words, "--json"));

test("a restore has all that was accepted before the backup, sends nothing before its release, and then all that waited, once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-restore-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await using mx = await startFakeMx({ slowMs: 100 });
  const env = { SMTP_PORT: String(mx.port), BOOTSTRAP_API_KEY, SECRET_KEY };
  await using scene = await openScene({ env, zone: mailDomain("example.test") });
  const stopping = new AbortController();
  const accepted: string[] = [];
  const writers = ["ada", "bob"].map((name) => writeUntil(scene, name, stopping.signal, accepted));
  await mx.waitForMessages(20);
  const before = [...accepted];
  const file = join(folder, "backup");
  await scene.program.command("backup", file);
  await scene.program.kill("SIGKILL");
  stopping.abort();
  await Promise.all(writers);

  await using database = await newDatabase();
  const settings = {
    ...platform,
    ...env,
    MAIL_MODE: "direct",
    ALLOW_PRIVATE_MX: "true",
    DNS_SERVERS: scene.dns.address,
    DATA_DIR: join(folder, "data"),
    DATABASE_URL: database.url,
  };
  const code = await runCli(["restore", file], {
    stdout: { write: () => {} },
    stderr: process.stderr,
    environment: settings,
    endpoints: () => [],
    serve: async () => {},
  });
  expect(code).toBe(0);
  const ids = (await database.rows<{ id: string }>(sql`select id from messages`)).map(({ id }) => id);
  const waiting = await database.rows<{ id: string }>(sql`select message_id as id from delivery_queue`);
  expect(before.filter((id) => !ids.includes(id))).toEqual([]);
  expect(waiting.length).toBeGreaterThan(0);
  expect(await findMiscounts(database)).toEqual([]);

  const copies = new Map(mx.copies);
  const received = mx.received;
  await using program = await startProgram(settings);
  const { status, body } = await program.call("POST", "/emails/send", {
    to: "new@example.test",
    subject: "Hello",
    body: "<p>Hello</p>",
  });
  expect(status).toBe(201);
  expect(program.recentOutput).toContain("held since");
  expect(await answer(program, "sending", "status")).toMatchObject({
    is_held: true,
    messages: waiting.length + 1,
  });
  expect(mx.received).toBe(received);

  await program.command("sending", "release");
  await eventually("the log to have the release", async () =>
    program.logged("sending is released: messages leave when they are due").at(0),
  );
  await eventually(
    "the queue to be empty",
    async () => (await answer(program, "sending", "status")).messages === 0,
  );
  for (const id of [...waiting.map((one) => one.id), body.data.id]) {
    expect([id, mx.copies.get(copiesOf(id))]).toEqual([id, (copies.get(copiesOf(id)) ?? 0) + 1]);
  }
  expect(ids.filter((id) => !mx.copies.has(copiesOf(id)))).toEqual([]);
  expect(mx.received).toBe(received + waiting.length + 1);
  expect(await findMiscounts(database)).toEqual([]);
});
