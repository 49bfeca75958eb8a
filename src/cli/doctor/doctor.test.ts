import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, inject, test } from "vitest";
import { deleteHold, insertHold } from "#delivery/hold/store.ts";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import { createLog } from "#platform/log/log.ts";
import { ProcessRegistration } from "#platform/process/process-registration.ts";
import { newDatabase } from "#test/support/database.ts";
import { prepareDoctor } from "#test/support/doctor-run.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { checkClock, checkDisk, checkServer } from "./database-clock-disk.ts";

const service = await startService();
const examine = await prepareDoctor(service);
const begin = (role: string) =>
  ProcessRegistration.begin(
    { db: service.database, log: createLog("silent"), roles: [role] },
    async () => {},
  );
const delivery = await begin("delivery");

test("an installation that is in order is told so, and its mail hosts hear a greeting and no more", async () => {
  const { code, findings, of, mx } = await examine({ mx: { tls: "offered" } });
  const lacking = findings.filter(({ status }) => status !== "ok");
  expect(lacking.map(({ check, status }) => [check, status])).toEqual([["public URL", "not_checked"]]);
  expect(findings.map(({ check }) => check)).toEqual([
    "settings",
    "database",
    "clock",
    "schema",
    "replication",
    "secret key",
    "plan",
    "delivery",
    "disk",
    "DNS servers",
    `port ${mx.port}`,
    "reverse DNS",
    "bounces",
    "SPF",
    "public URL",
  ]);
  expect(code).toBe(0);
  expect(of("database")?.message).toMatch(/^PostgreSQL \d+\.\d+/);
  expect(of("port")?.message).toContain("mx.example.test (127.0.0.1, port");
  expect(mx.commands.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS", "EHLO", "QUIT"]);
});

test("where mail is captured only the machine is looked at, and --mx-of is not ignored in silence", async () => {
  const words = ["--mx-of", "example.test"];
  const { code, findings, of } = await examine({ env: () => ({ MAIL_MODE: "capture" }), words });
  expect(of("--mx-of")?.message).toBe("MAIL_MODE is capture: no mail host is asked, so it was ignored.");
  expect(findings.map(({ check, status }) => [check, status])).toEqual([
    ["settings", "ok"],
    ["database", "ok"],
    ["clock", "ok"],
    ["schema", "ok"],
    ["replication", "ok"],
    ["secret key", "ok"],
    ["plan", "ok"],
    ["delivery", "ok"],
    ["disk", "ok"],
    ["DNS servers", "ok"],
    ["mail", "not_checked"],
    ["--mx-of", "not_checked"],
  ]);
  expect(code).toBe(0);
});

test("a server of DATABASE_URL that cannot be reached is named, and those that answer are not", async () => {
  const url = new URL(service.database.url);
  const look = async (host: string) => {
    const DATABASE_URL = service.database.url.replace(url.host, `${host},${url.host}`);
    return (await examine({ env: () => ({ MAIL_MODE: "capture", DATABASE_URL }) })).of("servers");
  };
  expect(await look("127.0.0.1:9")).toEqual({
    check: "servers",
    status: "warning",
    message: expect.stringMatching(/these do not answer: 127\.0\.0\.1:9 \([^,]*ECONNREFUSED[^,]*\)\. /),
  });
  expect(await look(url.host)).toMatchObject({ status: "ok" });
});

test("without a delivery process the doctor warns, and mail that is due makes it a fault", async () => {
  const capture = { env: () => ({ MAIL_MODE: "capture" }) };
  const look = async () => {
    const { code, of } = await examine(capture);
    return [code, of("delivery")?.status];
  };
  await delivery.stop();
  expect(await look()).toEqual([0, "warning"]);
  const { send } = await reportScene(service);
  const id = await send("queued");
  const due = (minutes: number) =>
    service.database.run(sql`
      update delivery_queue set due_at = now() - make_interval(mins => ${minutes}) where message_id = ${id}`);
  await due(-1);
  expect(await look()).toEqual([0, "warning"]);
  await due(1);
  expect(await look()).toEqual([1, "fault"]);
  const { of } = await examine(capture);
  expect(of("delivery")?.message).toMatch(
    /^Mail is due, and no delivery process runs on any machine, nor any other process: start/,
  );
  const api = await begin("api");
  expect((await examine(capture)).of("delivery")?.message).toContain(
    "only the roles api: start a machine with the role delivery",
  );
  await api.stop();
  await insertHold(service.database, null);
  expect(await look()).toEqual([0, "warning"]);
  await deleteHold(service.database);
  await begin("delivery");
  expect(await look()).toEqual([0, "ok"]);
});

test("a secret key that is not the database's is a fault, and so is none", async () => {
  const capture = { MAIL_MODE: "capture" };
  const other = await examine({ env: () => ({ ...capture, SECRET_KEY: "x".repeat(44) }) });
  const elsewhere = join(tmpdir(), "posthaste-doctor-without-key");
  const none = await examine({ env: () => ({ ...capture, SECRET_KEY: "", DATA_DIR: elsewhere }) });
  for (const { code, of } of [other, none]) {
    expect([code, of("secret key")?.status]).toEqual([1, "fault"]);
    expect(of("secret key")?.message).toMatch(/^The database belongs to another secret key/i);
  }
  expect(existsSync(elsewhere)).toBe(false);
});

test("an unreachable database is a finding, and the other checks still run", async () => {
  const { code, findings, of } = await examine({
    env: () => ({ DATABASE_URL: "postgres://nobody@localhost:9/none" }),
  });
  expect(code).toBe(1);
  expect(of("database")).toMatchObject({
    status: "fault",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(of("reverse DNS")).toEqual({
    check: "reverse DNS",
    status: "not_checked",
    message: "Sending IPs can be read only from a database whose schema is up to date.",
  });
  expect(findings.map(({ check }) => check)).toContain("SPF");
});

test("a database that lacks migrations stays as it is, and the way to them is named", async () => {
  await using empty = await newDatabase();
  const { code, of } = await examine({ env: () => ({ DATABASE_URL: empty.url }) });
  expect(of("schema")).toMatchObject({
    status: "warning",
    message: expect.stringMatching(
      /^Not applied yet: 0001-\S+\.sql and \d+ more\. .*`npm run -s posthaste -- migrate`/,
    ),
  });
  expect(code).toBe(0);
  expect(await empty.rows(sql`select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
});

test("doctor does not wait for a process that applies migrations", async () => {
  const other = await service.database.openSession();
  try {
    await other.query("select pg_advisory_lock($1)", [lockKey("migrations")]);
    expect((await examine()).of("schema")?.status).toBe("ok");
  } finally {
    await other.end();
  }
});

test("a schema of a newer version is a fault, and changes nothing of the rest", async () => {
  await using newer = await newDatabase(inject("template"));
  await newer.run(
    sql`insert into schema_migrations (name, digest, needs_program) values ('9999-later.sql', '', '99.0.0')`,
  );
  const { code, of } = await examine({ env: () => ({ DATABASE_URL: newer.url }) });
  expect(of("schema")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/9999-later\.sql, which needs version 99\.0\.0 or newer/),
  });
  expect([code, of("database")?.status, of("clock")?.status]).toEqual([1, "ok", "ok"]);
});

test("settings that cannot be read are findings, one a setting, and there is nothing to look at without them", async () => {
  const { code, findings } = await examine({ env: () => ({ SMTP_PORT: "smtp", RATE_LIMIT: "much" }) });
  expect(code).toBe(1);
  expect(findings).toEqual(
    ["RATE_LIMIT", "SMTP_PORT"].map((name) => ({
      check: "settings",
      status: "fault",
      message: expect.stringMatching(new RegExp(`^${name} must be .*\\.$`)),
    })),
  );
});

test("a folder that the first start creates is no fault", async () => {
  const { code, of } = await examine({
    env: () => ({ DATA_DIR: join(tmpdir(), "posthaste", "not", "yet") }),
  });
  expect([code, of("disk")]).toMatchObject([
    0,
    { status: "not_checked", message: expect.stringContaining("the first start creates it") },
  ]);
});

test("a full disk is a fault that says what stops, and what does not", async () => {
  // A file system without free space.
  expect(await checkDisk("/proc")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(
      /^\/proc: only 0 MB free in DATA_DIR\. \/readyz answers 503, .* Without free space nothing is delivered/,
    ),
  });
});

test("clocks may be five seconds apart, and no more", () => {
  expect(checkClock(4_900).status).toBe("ok");
  expect(checkClock(-5_100)).toMatchObject({
    status: "fault",
    message: expect.stringContaining("5.1 s apart"),
  });
});

test("a server without room for the locks of the message log gets a warning that says what to set", () => {
  const server = { version: "18.6", now: 0, locks: 6_400 };
  expect(checkServer({ ...server, locks_of_log: 1_600 }).status).toBe("ok");
  expect(checkServer({ ...server, locks_of_log: 1_601 })).toEqual({
    check: "database",
    status: "warning",
    message: expect.stringContaining("Set max_locks_per_transaction = 1024"),
  });
});

test("an archive that the database does not have is a fault, and one that it has is in order", async () => {
  const withArchive = (name: string) =>
    examine({ env: () => ({ MAIL_MODE: "capture", MESSAGE_ARCHIVE_TABLESPACE: name }) });
  const [missing, usual] = [await withArchive("cold storage"), await withArchive("pg_default")];
  expect([missing.code, missing.of("archive")]).toEqual([
    1,
    {
      check: "archive",
      status: "fault",
      message: expect.stringContaining("MESSAGE_ARCHIVE_TABLESPACE is cold storage"),
    },
  ]);
  expect([usual.code, usual.of("archive")?.status]).toEqual([0, "ok"]);
});
