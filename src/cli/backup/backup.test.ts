import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import sql, { raw } from "sql-template-tag";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { findMiscounts } from "#cli/doctor/counters.ts";
import { runCli } from "#cli/program.ts";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { formatHeader, MAGIC, parseHeader } from "#platform/database/backup/backup-format.ts";
import { listTables } from "#platform/database/backup/catalogue-store.ts";
import { tablesLeftOut } from "#platform/database/backup/dump-database.ts";
import { migrate } from "#platform/database/migrate.ts";
import { thisRelease } from "#platform/database/migration-files.ts";
import type { Database } from "#platform/database/pool.ts";
import { isRestoreUnfinished, markUnfinishedRestore } from "#platform/database/unfinished-restore-store.ts";
import { saveSecretKey } from "#platform/secrets/key-fingerprints-store.ts";
import { formatRing } from "#platform/secrets/key-ring.ts";
import { createSecrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { schemaText } from "#test/support/schema-text.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";

const PASSPHRASE = "correct horse battery staple";
const launcher = fileURLToPath(new URL("../../../bin/posthaste.js", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "posthaste-backup-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const service = await startService();
const { database: db, workspaceId, call } = service;
const secrets = createSecrets(SECRET_KEY);
const keyName = shortFingerprint(secrets.fingerprints[0]);
await saveSecretKey(db, secrets.fingerprints[0]);
await insertVerifiedDomain(db, secrets, workspaceId, "shop.test");
await ensurePartitions(db, new Date());
const list = await newList(db, workspaceId);
/** COPY must escape some of these. */
const names = ["back\\slash", "tab\tand\nline", "\\.", "\\N", "Zoë 😀", ""];
await addPeople(
  db,
  workspaceId,
  list,
  names.map((first_name, at) => ({ email: `user${at}@people.test`, first_name })),
);
for (const to of ["ada@people.test", "bob@people.test"]) {
  const mail = { to, from_email: "hello@shop.test", subject: "Hello", body: "<p>Hello</p>" };
  expect((await call("POST", "/emails/send", mail)).status).toBe(201);
}
// The API writes both some time after its answers.
await eventually("the calls to be in the log of the key", () =>
  db.row(sql`
    select from api_keys where last_used_at is not null and (select count(*) from api_requests) = 2`),
);

interface Surroundings {
  readonly url?: string;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

/** Runs a command, by default as the operator of the service. */
async function run(words: string[], { url = db.url, dataDir, env, stdin, stdout }: Surroundings = {}) {
  const written = { stdout: "", stderr: "" };
  const code = await runCli(words, {
    stdout: stdout ?? { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    ...(stdin && { stdin }),
    environment: {
      DATABASE_URL: url,
      DATA_DIR: dataDir ?? join(folder, "none"),
      ...(dataDir === undefined && { SECRET_KEY }),
      ...env,
    },
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  return { code, ...written };
}

let number = 0;
const newPath = () => join(folder, String(++number));
async function backup(...more: string[]): Promise<string> {
  const file = newPath();
  const { code, stderr } = await run(["backup", file, ...more], {
    env: { POSTHASTE_BACKUP_PASSPHRASE: PASSPHRASE },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return file;
}

/** An empty database, dropped after the test. */
async function emptyDatabase(): Promise<Database> {
  const database = await newDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

/** A digest of all rows of each table that is in a backup. */
async function digests(of: Database): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name } of await listTables(of)) {
    // The restored database has the event of its restore, and the hold.
    if (name in tablesLeftOut || name === "audit_events") continue;
    const row = await of.row<{ digest: string }>(
      raw(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as digest from ${name} t`,
      ),
    );
    found[name] = row?.digest ?? "";
  }
  return found;
}

const indexNames = async (of: Database) =>
  (
    await of.rows<{ name: string }>(sql`
      select indexname || ' ' || indexdef as name from pg_indexes where schemaname = 'public' order by name`)
  ).map(({ name }) => name);

test("a restored database has every row, table, index and sequence, and its sending is held", async () => {
  const file = await backup();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).filter((name) => name.startsWith(`${number}`))).toEqual([`${number}`]);
  const target = await emptyDatabase();
  const { code, stdout, stderr } = await run(["restore", file, "--json"], { url: target.url });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    skipped_tables: [],
    missing_keys: [],
    key_file: null,
    sending: { is_held: true, messages: 2, scheduled_messages: 0, campaigns_sending: 0 },
  });
  expect(await digests(target)).toEqual(await digests(db));
  expect(await schemaText(target)).toBe(await schemaText(db));
  expect(await indexNames(target)).toEqual(await indexNames(db));
  expect(await findMiscounts(target)).toEqual([]);
  expect(await migrate(target)).toEqual([]);
  const sequences = sql`select sequencename, last_value from pg_sequences where schemaname = 'public'`;
  expect(await target.rows(sequences)).toEqual(await db.rows(sequences));
});

test("a backup goes through pipes", async () => {
  const pieces: Buffer[] = [];
  const stdout = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  const { code, stderr } = await run(["backup", "-", "--json"], { stdout });
  expect([code, JSON.parse(stderr)]).toMatchObject([0, { file: null, bytes: Buffer.concat(pieces).length }]);
  const target = await emptyDatabase();
  const restored = await run(["restore", "-"], { url: target.url, stdin: Readable.from(pieces) });
  expect(restored.stdout).toContain("Sending is held. This was waiting then.");
  expect(await digests(target)).toEqual(await digests(db));
});

test("a restore reads a named pipe once", async () => {
  const whole = await readFile(await backup());
  const pipe = newPath();
  await once(spawn("mkfifo", [pipe]), "exit");
  const target = await emptyDatabase();
  const [restored] = await Promise.all([
    run(["restore", pipe], { url: target.url }),
    writeFile(pipe, whole).catch(() => {}),
  ]);
  expect(restored).toMatchObject({ code: 0 });
  expect(await digests(target)).toEqual(await digests(db));
});

test("with --with-secret-key the keys come back, and only with the passphrase", async () => {
  const file = await backup("--with-secret-key");
  expect(await readFile(file, "latin1")).not.toContain(SECRET_KEY);
  const target = await emptyDatabase();
  const dataDir = newPath();
  const restore = (passphrase: string) =>
    run(["restore", file], { url: target.url, dataDir, env: { POSTHASTE_BACKUP_PASSPHRASE: passphrase } });
  expect(await restore("another passphrase")).toMatchObject({
    code: 1,
    stderr: "error: the passphrase is wrong\n",
  });
  expect(await listTables(target)).toEqual([]);
  expect(await restore(`${PASSPHRASE}\n`)).toMatchObject({ code: 0 });
  expect(await readFile(join(dataDir, "secret.key"), "utf8")).toBe(`${formatRing([SECRET_KEY])}\n`);
});

/** A terminal at which a person types these lines. */
const typing = (...typed: string[]) =>
  Object.assign(Readable.from(typed.map((line) => `${line}\r`)), { isTTY: true });

test("at a terminal the passphrase is asked for, twice for a backup, and never shown", async () => {
  const backUp = (stdin?: Readable) =>
    run(["backup", newPath(), "--with-secret-key"], stdin === undefined ? {} : { stdin });
  const good = await backUp(typing(PASSPHRASE, PASSPHRASE));
  expect(good).toMatchObject({
    code: 0,
    stderr: "Passphrase for the secret keys: \nThe same passphrase again: \n",
  });
  expect(good.stdout + good.stderr).not.toContain(PASSPHRASE);
  const refusals = [
    [typing(PASSPHRASE, `${PASSPHRASE}r`), "the two passphrases differ"],
    [typing("short", "short"), "the passphrase must have at least 12 characters"],
    [typing(), "no passphrase was given"],
    [undefined, "name a file with --passphrase-file, or set POSTHASTE_BACKUP_PASSPHRASE"],
  ] as const;
  for (const [stdin, refusal] of refusals) {
    const { code, stderr } = await backUp(stdin);
    expect([code, stderr]).toEqual([1, expect.stringContaining(refusal)]);
  }
  expect((await readdir(folder)).filter((name) => name.endsWith(".partial"))).toEqual([]);
});

test("a passphrase for a backup without keys is refused", async () => {
  const { code, stderr } = await run(["backup", newPath(), "--passphrase-file", "any"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("add --with-secret-key")]);
});

test("a restore that fails at its commit leaves no key", async () => {
  const file = await backup("--with-secret-key");
  const target = await emptyDatabase();
  // The marker is dropped after the key is written.
  await target.run(
    raw(`
    create function refuse() returns event_trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create event trigger refuse on sql_drop when tag in ('DROP TABLE') execute function refuse()`),
  );
  const dataDir = newPath();
  const env = { POSTHASTE_BACKUP_PASSPHRASE: PASSPHRASE };
  expect(await run(["restore", file], { url: target.url, dataDir, env })).toMatchObject({
    code: 1,
    stderr: "error: refused\n",
  });
  expect(await readdir(dataDir)).toEqual([]);
});

test("the keys of a backup replace no other key", async () => {
  const file = await backup("--with-secret-key");
  const target = await emptyDatabase();
  const SECRET = "a secret key of another installation";
  const { code, stderr } = await run(["restore", file], { url: target.url, env: { SECRET_KEY: SECRET } });
  expect([code, stderr]).toEqual([
    1,
    `error: SECRET_KEY has other keys than the backup, which needs ${keyName}: take it away, and the restore writes the right ones. Nothing was changed\n`,
  ]);
  expect(await listTables(target)).toEqual([]);
});

test("a backup without its key is restored, and says which key is missing", async () => {
  const file = await backup();
  const target = await emptyDatabase();
  const dataDir = newPath();
  const { stdout } = await run(["restore", file], { url: target.url, dataDir });
  expect(stdout).toContain(
    `The secret key ${keyName} is missing here: set SECRET_KEY, or put it into secret.key`,
  );
  await expect(access(join(dataDir, "secret.key"))).rejects.toThrow("ENOENT");
});

test("a cut, changed or joined backup is refused with a sentence, and the database is as it was", async () => {
  const whole = await readFile(await backup());
  const changed = Buffer.from(whole);
  // Within a record, and below within the header.
  const middle = whole.length - 5_000;
  changed[middle] = (changed[middle] ?? 0) ^ 1;
  const target = await emptyDatabase();
  const top = Buffer.from(whole);
  top.write("X", 40);
  const joined = Buffer.concat([whole, whole]);
  for (const damaged of [whole.subarray(0, -200), changed, top, joined]) {
    // A file is checked before the restore, and a pipe during it.
    const { code, stderr } = await run(["restore", "-"], {
      url: target.url,
      stdin: Readable.from([damaged]),
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: the backup is damaged or cut off: .*\. Use another copy of it\n$/),
    ]);
    expect(await listTables(target)).toEqual([]);
  }
});

test("a damaged file leaves no new DATA_DIR behind", async () => {
  const file = newPath();
  await writeFile(file, (await readFile(await backup())).subarray(0, -200));
  const dataDir = newPath();
  expect(await run(["restore", file], { url: "", dataDir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the backup is damaged or cut off"),
  });
  await expect(access(dataDir)).rejects.toThrow("ENOENT");
});

test("a file or folder that cannot be used is named, with what to do", async () => {
  const missing = newPath();
  const file = await backup();
  const refusals = [
    [
      ["backup", join(missing, "file")],
      `the folder ${missing} does not exist: make it, or name a file in another folder`,
    ],
    [["backup", ""], "the name of the backup is empty: name a new file"],
    [["backup", `${missing}/`], `${missing}/ is the name of a folder: name a new file`],
    [["backup", folder], `${folder} is a folder: name a new file in it`],
    [["backup", join(file, "below")], `${file} is not a folder: make it, or name a file in another folder`],
    [["restore", ""], "the name of the backup is empty: name the file that `backup` has written"],
    [["restore", missing], `the backup ${missing} does not exist: name the file that \`backup\` has written`],
    [
      ["restore", folder],
      `the backup ${folder} is a folder, and not a file: name the file that \`backup\` has written`,
    ],
    [
      ["backup", newPath(), "--with-secret-key", "--passphrase-file", missing],
      `the passphrase file ${missing} does not exist: name with --passphrase-file a file whose first line is the passphrase`,
    ],
  ] as const;
  for (const [words, refusal] of refusals) {
    expect(await run([...words])).toEqual({ code: 1, stdout: "", stderr: `error: ${refusal}\n` });
  }
});

test("a database with data is refused, and unchanged", async () => {
  const file = await backup();
  const before = await digests(db);
  const { code, stderr } = await run(["restore", file]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("error: the database is in use (it has workspaces): a restore needs a new one"),
  ]);
  expect(await digests(db)).toEqual(before);
  expect(await migrate(db)).toEqual([]);
});

test("a backup with migrations of a later version names that version", async () => {
  const whole = await readFile(await backup());
  const end = whole.indexOf(10, 20);
  const header = parseHeader(whole.toString("utf8", MAGIC.length, end));
  if (header === undefined) throw new TypeError("the backup has no header");
  const later = { name: "9999-later.sql", digest: "0" };
  const changed = formatHeader({ ...header, program: "9.8.7", migrations: [...header.migrations, later] });
  const file = newPath();
  await writeFile(file, Buffer.concat([Buffer.from(changed), whole.subarray(end + 1)]));
  const target = await emptyDatabase();
  expect((await run(["restore", file], { url: target.url })).stderr).toBe(
    "error: the backup was made by Posthaste 9.8.7, whose schema this version does not have (9999-later.sql): restore it with that version, or with a newer one\n",
  );
  expect(await listTables(target)).toEqual([]);
});

test("a backup of an older schema is restored, and the newer migrations follow", async () => {
  const older = newPath();
  await cp(thisRelease.migrations, older, { recursive: true });
  const newest = (await readdir(older)).sort().at(-1) ?? "";
  await rm(join(older, newest));
  const source = await emptyDatabase();
  await migrate(source, { version: "0.1.0", migrations: pathToFileURL(`${older}/`) });
  await saveSecretKey(source, secrets.fingerprints[0]);
  const file = newPath();
  expect(await run(["backup", file], { url: source.url })).toMatchObject({ code: 0, stderr: "" });
  const target = await emptyDatabase();
  expect(await run(["restore", file], { url: target.url })).toMatchObject({ code: 0, stderr: "" });
  const applied = sql`select name from schema_migrations order by name`;
  expect((await source.rows(applied)).length).toBe((await target.rows(applied)).length - 1);
  expect(await migrate(target)).toEqual([]);
  expect(await target.rows(sql`select fingerprint from secret_keys`)).toEqual([
    { fingerprint: secrets.fingerprints[0] },
  ]);
  const linesOf = (text: string) => text.split("\n").sort();
  expect(linesOf(await schemaText(target))).toEqual(
    expect.arrayContaining(linesOf(await schemaText(source))),
  );
});

test("a database of a later version is not backed up by this one", async () => {
  await db.run(sql`insert into schema_migrations (name, digest) values ('9999-later.sql', '0')`);
  const file = newPath();
  const { code, stderr } = await run(["backup", file]);
  await db.run(sql`delete from schema_migrations where name = '9999-later.sql'`);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("the database has migration 9999-later.sql, which this version does not have"),
  ]);
  await expect(access(file)).rejects.toThrow("ENOENT");
});

test("after a kill -9 of a restore the database is refused, until a restore has succeeded", async () => {
  const file = await backup();
  const whole = await readFile(file);
  const target = await emptyDatabase();
  const { PATH = "" } = process.env;
  const environment = { PATH, DATABASE_URL: target.url, SECRET_KEY, DATA_DIR: newPath() };
  const child = spawn(process.execPath, [launcher, "restore", "-"], { env: environment, stdio: "pipe" });
  // The restore waits for the rest.
  child.stdin.write(whole.subarray(0, -300));
  await eventually("the restore to have a transaction open", () =>
    target.row(sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'posthaste command' and backend_xid is not null
        and to_regclass('unfinished_restore') is not null`),
  );
  child.kill("SIGKILL");
  await once(child, "exit");
  await eventually("its session to end", async () => {
    const others = await target.rows(sql`
      select from pg_stat_activity where datname = current_database() and application_name = 'posthaste command'`);
    return others.length === 0;
  });
  expect((await listTables(target)).map(({ name }) => name)).toEqual(["unfinished_restore"]);
  for (const command of ["migrate", "workspace list", "sending release", "doctor --json"]) {
    const { code, stdout, stderr } = await run(command.split(" "), { url: target.url });
    expect([code, stdout + stderr]).toEqual([
      1,
      expect.stringContaining("a restore into this database runs or has failed"),
    ]);
  }
  expect(await run(["restore", file], { url: target.url })).toMatchObject({ code: 0 });
  expect(await digests(target)).toEqual(await digests(db));
  expect(await run(["workspace", "list"], { url: target.url })).toMatchObject({ code: 0 });
});

test("a restore that fails leaves the mark of another restore", async () => {
  const whole = await readFile(await backup());
  const target = await emptyDatabase();
  await markUnfinishedRestore(target);
  const stdin = Readable.from([whole.subarray(0, -200)]);
  expect(await run(["restore", "-"], { url: target.url, stdin })).toMatchObject({ code: 1 });
  expect(await isRestoreUnfinished(target)).toBe(true);
});

test("a backup that is stopped by a signal leaves no file", async () => {
  const holder = await db.openSession();
  onTestFinished(() => holder.end());
  await holder.query("begin; lock table workspaces in access exclusive mode");
  const file = newPath();
  const { PATH = "" } = process.env;
  const environment = { PATH, DATABASE_URL: db.url, SECRET_KEY, DATA_DIR: newPath() };
  const child = spawn(process.execPath, [launcher, "backup", file], { env: environment, stdio: "ignore" });
  const files = async () => (await readdir(folder)).filter((name) => join(folder, name).startsWith(file));
  await eventually("the backup to have begun", async () => (await files()).length === 1);
  child.kill("SIGTERM");
  const [, signal] = await once(child, "exit");
  expect([signal, await files()]).toEqual(["SIGTERM", []]);
});

test("a database that cannot be written is backed up, with a warning", async () => {
  const target = await emptyDatabase();
  expect(await run(["restore", await backup()], { url: target.url })).toMatchObject({ code: 0 });
  const { name } = (await target.row<{ name: string }>(sql`select current_database() as name`)) ?? {
    name: "",
  };
  await target.run(raw(`alter database ${name} set default_transaction_read_only = on`));
  const file = newPath();
  const { code, stderr } = await run(["backup", file], { url: target.url });
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("warning: the backup is complete, but not in the audit log"),
  ]);
  expect((await stat(file)).size).toBeGreaterThan(0);
});

test("an empty database is no backup: the settings name another than the service's", async () => {
  const { url } = await emptyDatabase();
  const file = newPath();
  const { code, stderr } = await run(["backup", file], { url });
  expect([code, stderr]).toEqual([1, expect.stringContaining("the database is empty: check DATABASE_URL")]);
  expect((await readdir(folder)).filter((name) => name.startsWith(String(number)))).toEqual([]);
});

test("a file that exists is not replaced, and a terminal gets no backup", async () => {
  const file = await backup();
  const before = await readFile(file);
  expect(await run(["backup", file])).toMatchObject({
    code: 1,
    stderr: `error: ${file} exists: name another file\n`,
  });
  expect((await readFile(file)).equals(before)).toBe(true);
  // Before a passphrase is asked for.
  expect((await run(["backup", file, "--with-secret-key"])).stderr).toContain("exists: name another file");
  const stdout = Object.assign(new Writable(), { isTTY: true });
  expect((await run(["backup", "-"], { stdout })).stderr).toContain("a backup is not for a terminal");
});

test("every table that is left out exists, and tables that PostgreSQL does not log are left out", async () => {
  const names = (await listTables(db)).map(({ name }) => name);
  expect(Object.keys(tablesLeftOut).filter((name) => !names.includes(name))).toEqual([]);
  const unlogged = await db.rows<{ name: string }>(sql`
    select relname as name from pg_class where relpersistence = 'u' and relkind = 'r'`);
  expect(unlogged.map(({ name }) => name).filter((name) => !(name in tablesLeftOut))).toEqual([]);
});
