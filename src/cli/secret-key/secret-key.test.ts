import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import sql, { raw } from "sql-template-tag";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { checkSecretKey } from "#cli/doctor/secret-key.ts";
import { runCli } from "#cli/program.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { ProcessRegistration } from "#platform/process/process-registration.ts";
import { saveRunningProcess } from "#platform/process/running-processes-store.ts";
import { saveSecretKey } from "#platform/secrets/key-fingerprints-store.ts";
import { parseRing } from "#platform/secrets/key-ring.ts";
import { countSealed, resealAll } from "#platform/secrets/reseal-store.ts";
import { createSecrets, type Secrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { registerProcess } from "#test/support/registered-process.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { startService } from "#test/support/service.ts";
import { sealedColumns } from "./sealed-columns.ts";

const OLD = "the key in use until the rotation began";
const NEW = "the key that the rotation has brought in";
const old = createSecrets(OLD);
const both = createSecrets(OLD, NEW);
const promoted = createSecrets(NEW, OLD);
const nameOf = (secrets: Secrets) => shortFingerprint(secrets.fingerprints[0]);
const rotated = createSecrets(NEW);

const service = await startService({ secretKeys: [OLD] });
const { database: db, workspaceId, call } = service;
const DOMAINS = 5;
for (let number = 0; number < DOMAINS; number++) {
  await insertVerifiedDomain(db, old, workspaceId, `shop${number}.test`);
}
await call("POST", "/routing-rules", {
  name: "Relay",
  action: { relay_url: "smtp://u:p@smart.example:587" },
});
const webhook = await call("POST", "/webhooks", { url: "https://shop.example/hook", events: ["*"] });
await call("POST", `/webhooks/${webhook.body.data.id}/rotate-secret`);
/** Domains, the relay, and a webhook's secret with the one before it. */
const SEALED = DOMAINS + 3;

/** Everything that is sealed, as it was with the old key: each test begins so. */
const asMade = await Promise.all(
  sealedColumns.map(async ({ table, column }) => ({
    table,
    column,
    rows: await db.rows<{ id: string; sealed: Buffer }>(sql`
      select id, ${raw(column)} as sealed from ${raw(table)} where ${raw(column)} is not null`),
  })),
);

beforeEach(async () => {
  await db.run(sql`delete from secret_keys`);
  await db.run(sql`delete from running_processes`);
  for (const { table, column, rows } of asMade) {
    for (const { id, sealed } of rows) {
      await db.run(sql`update ${raw(table)} set ${raw(column)} = ${sealed} where id = ${id}`);
    }
  }
});

async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-rotation-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A machine's command line: with SECRET_KEY, or with a key file in its DATA_DIR. */
async function newMachine(keys: { readonly env?: string; readonly file?: string }) {
  const dataDir = await newDataDir();
  if (keys.file !== undefined) await writeFile(join(dataDir, "secret.key"), keys.file);
  return {
    async doctor() {
      const { status, message } = await checkSecretKey(db, {
        SECRET_KEY: keys.env === undefined ? null : parseRing(keys.env),
        DATA_DIR: dataDir,
      });
      return { status, message };
    },
    file: async () => parseRing((await readFile(join(dataDir, "secret.key"), "utf8")).trim()),
    async run(...words: string[]) {
      const printed: string[] = [];
      const output = { write: (text: string | Uint8Array) => printed.push(String(text)) };
      const code = await runCli(["secret-key", ...words], {
        stdout: output,
        stderr: output,
        environment: { DATABASE_URL: db.url, DATA_DIR: dataDir, SECRET_KEY: keys.env ?? "" },
        endpoints: () => [],
        serve: async () => {},
      });
      return { code, text: printed.join("") };
    },
  };
}

async function start(secrets: Secrets): Promise<ProcessRegistration> {
  const holding = await registerProcess(db, secrets);
  onTestFinished(() => holding.stop());
  return holding;
}

const sealedBy = (secrets: Secrets) => countSealed(db, secrets, sealedColumns);

test("in the key file: prepared beside a running service, used after its restart, then retired", async () => {
  const machine = await newMachine({ file: `${OLD}\n` });
  const first = await start(old);
  const prepared = await machine.run("rotate");
  expect(prepared).toMatchObject({ code: 0, text: expect.stringContaining("restart the service") });
  const [kept, fresh = ""] = await machine.file();
  expect(kept).toBe(OLD);
  const tooEarly = await machine.run("rotate");
  expect(tooEarly).toMatchObject({ code: 1, text: expect.stringMatching(/not yet known to .*restart it/) });
  expect(await machine.file()).toEqual([OLD, fresh]);

  await first.stop();
  const second = await start(createSecrets(OLD, fresh));
  const done = await machine.run("rotate");
  const [name = ""] = createSecrets(fresh).fingerprints.map(shortFingerprint);
  const here = `${hostname()}, process ${process.pid}`;
  const step = `restart the service (${here}), which still signs with ${nameOf(old)}.`;
  const left = `Everything is sealed with ${name}. One step is left: ${step} Then the rotation is complete.\n`;
  const resealed = `${SEALED} sealed values are sealed again, with ${name}.\n`;
  expect(done).toEqual({ code: 0, text: `${resealed}${left}` });
  expect(await machine.run("rotate")).toEqual({ code: 0, text: left });
  expect(await machine.doctor()).toEqual({
    status: "warning",
    message: `A rotation is not complete yet: ${step}`,
  });
  expect(await machine.file()).toEqual([fresh, OLD]);
  expect(await sealedBy(createSecrets(fresh))).toEqual({ byPosition: [SEALED], unopened: 0 });

  const signing = await machine.run("retire", nameOf(old), "--yes");
  expect(signing).toMatchObject({
    code: 1,
    text: expect.stringContaining(`still signs with ${nameOf(old)}`),
  });
  await second.stop();
  await start(createSecrets(fresh, OLD));
  expect((await machine.run("rotate")).text).toMatch(
    /^The rotation to [\da-f]+ is complete\..*When it is no longer/s,
  );
  const unsure = await machine.run("retire", nameOf(old));
  expect(unsure).toMatchObject({
    code: 1,
    text: expect.stringMatching(/newest of them from 20.*\(0 days ago\).*--yes/s),
  });
  expect(await machine.file()).toEqual([fresh, OLD]);
  expect((await machine.run("retire", nameOf(old), "--yes")).code).toBe(0);
  expect(await machine.file()).toEqual([fresh]);
});

test("in the key file, with no service running, one command does it all", async () => {
  const machine = await newMachine({ file: OLD });
  expect(await machine.run("rotate")).toMatchObject({
    code: 0,
    text: expect.stringContaining("is complete"),
  });
  const [fresh, earlier] = await machine.file();
  expect(earlier).toBe(OLD);
  expect(await sealedBy(createSecrets(fresh))).toEqual({ byPosition: [SEALED], unopened: 0 });
  const again = await machine.run("rotate");
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining("is complete") });
  expect(await machine.file()).toEqual([fresh, OLD]);
  await machine.run("rotate", "--another");
  expect((await machine.file()).slice(1)).toEqual([fresh, OLD]);
});

test("with SECRET_KEY each step is checked, and the command says which is next", async () => {
  const running = await start(old);
  const begun = await (await newMachine({ env: OLD })).run("rotate");
  expect(begun.text).toMatch(/A new secret key, shown this once:\s+[\w-]{43}\s.*SECRET_KEY=old,new/s);
  const added = await newMachine({ env: `${OLD},${NEW}` });
  expect(await added.run("rotate")).toMatchObject({
    code: 1,
    text: expect.stringMatching(/not yet known to .*SECRET_KEY/),
  });
  await running.stop();
  const both_ = await start(both);
  expect(await added.run("rotate")).toMatchObject({
    code: 1,
    text: expect.stringContaining("put it first in SECRET_KEY on every machine"),
  });
  expect(await sealedBy(old)).toEqual({ byPosition: [SEALED], unopened: 0 });
  await both_.stop();
  await start(promoted);
  const first = await newMachine({ env: `${NEW},${OLD}` });
  expect(await first.run("rotate")).toMatchObject({ code: 0, text: expect.stringContaining("is complete") });
  expect(await sealedBy(rotated)).toEqual({ byPosition: [SEALED], unopened: 0 });
  expect(await first.run("retire", nameOf(old), "--yes")).toMatchObject({
    code: 0,
    text: expect.stringContaining("take it out of SECRET_KEY on every machine"),
  });
  await start(rotated);
});

test("a new key put first while a machine knows only the old one changes nothing and is refused", async () => {
  await start(old);
  const hasty = await newMachine({ env: `${NEW},${OLD}` });
  expect(await hasty.run("rotate")).toMatchObject({
    code: 1,
    text: expect.stringContaining("could not be opened by"),
  });
  expect(await sealedBy(old)).toEqual({ byPosition: [SEALED], unopened: 0 });
});

test("another machine that signs with an earlier key is given the keys before its restart", async () => {
  const first = await newMachine({ env: `${NEW},${OLD}` });
  await saveSecretKey(db, old.fingerprints[0]);
  const other = { host: "mail2.example", pid: 17, roles: ["api"], version: "0.2.0", node_version: "24" };
  await saveRunningProcess(
    db,
    { ...other, id: newId(), key_fingerprints: both.fingerprints },
    { waits: [], paused_lanes: {} },
  );
  await start(promoted);
  await first.run("rotate");
  const step =
    "give mail2.example the same keys in the same order as this machine, then restart the service " +
    `(mail2.example, process 17), which still signs with ${nameOf(old)}.`;
  expect((await first.run("rotate")).text).toContain(`One step is left: ${step} Then`);
  expect((await first.doctor()).message).toBe(`A rotation is not complete yet: ${step}`);
  const behind = await newMachine({ env: `${OLD},${NEW}` });
  expect((await behind.doctor()).message).toContain("is an earlier one than that of");
});

test("another key alone is refused as before", async () => {
  await start(old);
  const stranger = await newMachine({ env: NEW });
  for (const words of [["rotate"], ["rotate", "--another"]]) {
    expect(await stranger.run(...words)).toMatchObject({
      code: 1,
      text: expect.stringContaining("belongs to another secret key"),
    });
  }
});

test("a rotation that is broken off while it seals leaves everything open, and goes on when it is run again", async () => {
  let updates = 0;
  const failing: Database = {
    ...db,
    run(statement) {
      updates += 1;
      if (updates === 2) throw new Error("killed");
      return db.run(statement);
    },
  };
  await expect(resealAll(failing, promoted, sealedColumns, 2)).rejects.toThrow("killed");
  expect(await sealedBy(promoted)).toEqual({ byPosition: [2, SEALED - 2], unopened: 0 });
  expect(await resealAll(db, promoted, sealedColumns, 2)).toBe(SEALED - 2);
  expect(await sealedBy(rotated)).toEqual({ byPosition: [SEALED], unopened: 0 });
  expect(await resealAll(db, promoted, sealedColumns, 2)).toBe(0);
});

test("a value that is written while it is sealed again keeps what was written", async () => {
  const id = webhook.body.data.id;
  const context = `webhook:${id}`;
  const overtaken: Database = {
    ...db,
    async run(statement) {
      await db.run(sql`update webhooks set secret = ${old.seal("whsec_newer", context)} where id = ${id}`);
      return db.run(statement);
    },
  };
  await resealAll(overtaken, promoted, sealedColumns);
  const row = await db.row<{ secret: Buffer }>(sql`select secret from webhooks where id = ${id}`);
  expect(row && promoted.open(row.secret, context)).toBe("whsec_newer");
});

test("a key that something sealed needs cannot be retired", async () => {
  await start(old).then((holding) => holding.stop());
  await start(both).then((holding) => holding.stop());
  await start(promoted);
  const machine = await newMachine({ env: `${NEW},${OLD}` });
  expect(await machine.run("retire", nameOf(old), "--yes")).toMatchObject({
    code: 1,
    text: expect.stringContaining(`${SEALED} sealed values may need ${nameOf(old)}`),
  });
  expect(await machine.run("retire", nameOf(rotated), "--yes")).toMatchObject({
    code: 1,
    text: expect.stringContaining("is the key in use"),
  });
  expect(await machine.run("retire", "00000000", "--yes")).toMatchObject({
    code: 1,
    text: expect.stringContaining(nameOf(old)),
  });
});

test("the list shows what each key seals, and what none opens", async () => {
  await start(old);
  const machine = await newMachine({ env: `${OLD},${NEW}` });
  const { text } = await machine.run("list", "--json");
  expect(JSON.parse(text)).toEqual({
    unopened: 0,
    keys: [
      {
        fingerprint: nameOf(old),
        state: "in use",
        here: "seals and signs",
        sealed_values: SEALED,
        processes: 1,
        last_used_at: expect.any(String),
      },
      {
        fingerprint: nameOf(rotated),
        state: "not yet used",
        here: "opens and verifies",
        sealed_values: 0,
        processes: 0,
        last_used_at: null,
      },
    ],
  });
  expect((await machine.run("list")).text).toMatch(/^FINGERPRINT +STATE +HERE/);
});

test("a command on a folder without a key makes none", async () => {
  const machine = await newMachine({});
  expect(await machine.run("rotate")).toMatchObject({
    code: 1,
    text: expect.stringContaining("there is no secret key here"),
  });
  await expect(machine.file()).rejects.toThrow("ENOENT");
});
