import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import sql from "sql-template-tag";
import { expect, inject, onTestFinished, test } from "vitest";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import { newDatabase, testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { launcherOf } from "#test/support/release.ts";

const db = await testDatabase();
await db.run(sql`delete from secret_keys`);

/** Starts the service, ends it if it succeeds, and waits for the process to exit. */
async function start(settings: Readonly<Record<string, string>>) {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-failed-start-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const { PATH = "" } = process.env;
  const own = { PATH, DATABASE_URL: db.url, DATA_DIR: dataDir, MAIL_MODE: "capture", PORT: "0" };
  const child = spawn(process.execPath, [launcherOf(), "serve"], { env: { ...own, ...settings } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const untilItListens = async () => {
    let out = "";
    for await (const piece of child.stdout) {
      out += piece;
      if (out.includes("API docs")) child.kill("SIGTERM");
    }
    return out;
  };
  const [out, err, [code]] = await Promise.all([untilItListens(), text(child.stderr), once(child, "exit")]);
  return { code, out, err, files: await readdir(dataDir) };
}

async function listen() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

async function busyPort(): Promise<number> {
  const { server, port } = await listen();
  onTestFinished(() => void server.close());
  return port;
}

async function freePort(): Promise<number> {
  const { server, port } = await listen();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.each(["PORT", "INBOUND_PORT", "SUBMISSION_PORT", "SUBMISSIONS_PORT"])(
  "a %s that is in use ends the start with one sentence and no other output",
  async (setting) => {
    const port = await busyPort();
    const { code, out, err } = await start({ SECRET_KEY: "k".repeat(32), [setting]: String(port) });
    expect(err).toBe(
      `error: ${setting}: 127.0.0.1:${port} is in use by another program. Stop it, or set another ${setting}.\n`,
    );
    expect(code).toBe(1);
    expect(out).not.toMatch(/API docs|Posthaste listens|"level":[4-6]0/);
  },
  60_000,
);

test("the first start that succeeds prints the first API key, once, and warns of a misspelled setting", async () => {
  await using empty = await newDatabase();
  const settings = { DATABASE_URL: empty.url, SECRET_KEY: "k".repeat(32) };
  const failed = await start({ ...settings, INBOUND_PORT: String(await busyPort()) });
  expect([failed.code, failed.out]).toEqual([1, expect.not.stringContaining("efk_")]);
  const succeeded = await start({ ...settings, MAIL_HOSTNAM: "mail.posthaste.test" });
  expect(succeeded.out).toContain("MAIL_HOSTNAM is no setting and has no effect: is MAIL_HOSTNAME meant?");
  expect([succeeded.code, succeeded.out]).toEqual([0, expect.stringMatching(/first API key.*\n\n +efk_/)]);
  expect((await start(settings)).out).not.toContain("efk_");
}, 120_000);

test("a machine with bound ports is not ready before the first API key exists", async () => {
  await using empty = await newDatabase(inject("template"));
  const port = await freePort();
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => undefined,
    );
  const other = await empty.connect();
  await other.query("select pg_advisory_lock($1)", [lockKey("first workspace")]);
  const started = start({ DATABASE_URL: empty.url, SECRET_KEY: "k".repeat(32), PORT: String(port) });
  await eventually("the port to be bound", async () => (await isReady()) !== undefined);
  const wasReady = await isReady();
  await other.query("select pg_advisory_unlock($1)", [lockKey("first workspace")]);
  other.release();
  expect(wasReady).toBe(false);
  expect(await started).toMatchObject({ code: 0, out: expect.stringContaining("efk_") });
}, 60_000);

test.each([
  ["a file", "/etc/hostname", "is not a folder"],
  ["below a file", "/etc/hostname/data", "cannot be created: /etc/hostname is not a folder"],
  [
    "where nothing can be created",
    "/proc/x/data",
    "cannot be created in /proc: nothing can be created there",
  ],
  ["a folder in which nothing can be created", "/proc", "cannot be used: nothing can be created there"],
])(
  "a DATA_DIR that is %s ends the start with one sentence that names the setting",
  async (_, dataDir, problem) => {
    const { code, err } = await start({ DATABASE_URL: "", DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^error: DATA_DIR: ${dataDir} ${problem}\\. Set DATA_DIR to .*\\n$`));
  },
);

test("a start without the secret key of its database is refused and writes no key", async () => {
  await db.run(
    sql`insert into secret_keys (fingerprint, last_used_at) values (${Buffer.alloc(32, 7)}, now())`,
  );
  const { code, err, files } = await start({});
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: the database belongs to another secret key/),
  ]);
  expect(files).not.toContain("secret.key");
});
