/**
 * Two machines are upgraded one after the other, under load. The later release is this program with a higher version and
 * further migrations.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { startRetryingClient } from "#test/faults/retrying-client.ts";
import { startCountingMx } from "#test/support/counting-mx.ts";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { launcherOf, makeRelease } from "#test/support/release.ts";
import { mailDomain, platform } from "#test/support/scene.ts";

const UPGRADE_MS = 240_000;
const RATE = 20;
const KEY = `efk_${"7777".repeat(10)}`;

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const folder = await mkdtemp(join(tmpdir(), "posthaste-upgrade-"));
stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const dns = stack.use(await startFakeDns(mailDomain("example.test")));
const database = stack.use(await newDatabase());
const mx = await startCountingMx();
stack.defer(() => mx.stop());

const machine = async (name: string, root?: string): Promise<Program> =>
  stack.use(
    await startProgram(
      {
        ...platform,
        BOOTSTRAP_API_KEY: KEY,
        BOOTSTRAP_PLAN: "enterprise",
        SECRET_KEY: "7".repeat(64),
        MAIL_MODE: "direct",
        ALLOW_PRIVATE_MX: "true",
        SMTP_PORT: String(mx.port),
        DNS_SERVERS: dns.address,
        DATA_DIR: join(folder, name),
        DATABASE_URL: database.url,
      },
      ["serve"],
      [process.execPath, launcherOf(root)],
    ),
  );

test("machines are upgraded one after the other while mail is accepted and sent: none is lost, none is refused", {
  timeout: UPGRADE_MS,
}, async () => {
  const compatible = {
    "9001-color.sql": "alter table workspaces add column color text not null default 'blue'",
  };
  const next = await makeRelease(folder, "99.1.0", compatible);
  const demanding = await makeRelease(folder, "99.2.0", {
    ...compatible,
    "9002-no-color.sql": "-- Needs program 99.1.0\nalter table workspaces drop column color",
  });

  const first = await machine("first");
  let second = await machine("second");
  let current = first;
  const client = startRetryingClient({
    url: () => current.url,
    apiKey: KEY,
    rate: RATE,
    emailFor: (number) => ({ to: `p${number}@example.test`, subject: "Hello", body: "<p>Hello</p>" }),
  });
  const acceptMore = async () => {
    const before = client.accepted.size;
    await eventually("more messages", async () => client.accepted.size > before + RATE, UPGRADE_MS);
  };
  await acceptMore();

  // The second machine is replaced; the first goes on with the later schema, and may be started again on it.
  await second.kill("SIGTERM");
  second = await machine("second", next);
  expect(await database.rows(sql`select distinct color from workspaces`)).toEqual([{ color: "blue" }]);
  await acceptMore();
  current = second;
  await first.kill("SIGTERM");
  await first.start();
  current = first;
  await acceptMore();

  // What the first release cannot work with is not applied while it runs, and it does not start afterwards.
  current = second;
  await expect(machine("third", demanding)).rejects.toThrow(
    /migration 9002-no-color.sql needs every machine to run version 99.1.0 or newer: stop .* first/,
  );
  await first.kill("SIGTERM");
  const third = await machine("third", demanding);
  await expect(first.start()).rejects.toThrow(/needs version 99.1.0 or newer, and this is/);
  await acceptMore();
  current = third;
  await acceptMore();

  await client.finish();
  expect(client).toMatchObject({ contradicted: [], refused: [] });
  const ids = [...client.accepted.values()];
  await eventually(
    "all to be sent",
    async () => {
      const { copies } = await mx.count();
      return ids.every((id) => copies.has(`${id}@posthaste.test`));
    },
    UPGRADE_MS,
  );
  const { received, copies } = await mx.count();
  expect([received, copies.size]).toEqual([ids.length, ids.length]);
});
