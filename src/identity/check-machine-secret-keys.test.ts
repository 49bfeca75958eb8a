import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { runCli } from "#cli/program.ts";
import type { Log } from "#platform/log/log.ts";
import type { ProcessRegistration } from "#platform/process/process-registration.ts";
import { retireSecretKey } from "#platform/secrets/key-fingerprints-store.ts";
import { loadSecretKeys } from "#platform/secrets/key-ring.ts";
import { createSecrets, type Secrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { registerProcess } from "#test/support/registered-process.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { requireUsableKeys } from "./check-machine-secret-keys.ts";

const service = await startService();
const db = service.database;
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-own-key-"));
afterAll(() => rm(dataDir, { recursive: true, maxRetries: 5 }));
const own = createSecrets(SECRET_KEY);
const OTHER_KEY = "another secret key that only tests use";
const other = createSecrets(OTHER_KEY);

const admit = (secrets: Secrets) => db.transaction((tx) => requireUsableKeys(tx, secrets));

beforeEach(async () => {
  await db.run(sql`delete from secret_keys`);
  await db.run(sql`delete from running_processes`);
  await db.run(sql`delete from sending_domains`);
});

test("a database belongs to the key of its first start, and a machine with another one does not start", async () => {
  await admit(own);
  await admit(own);
  await expect(admit(other)).rejects.toThrow(/belongs to another secret key .*SECRET_KEY.*backup/s);
});

test("of two machines that start at once with keys of their own one starts", async () => {
  const starts = await Promise.allSettled([admit(own), admit(other)]);
  expect(starts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("where the key is lost for good, the operator has the database go on with another", async () => {
  await service.call("POST", "/sending-domains", { domain: "acme.example" });
  await admit(own);
  expect(await accept(OTHER_KEY)).toBe("The database belongs to this machine's secret key now.\n");
  await admit(other);
  await expect(admit(own)).rejects.toThrow(
    /belongs to another secret key .*docs\/operations\.md#a-missing-or-wrong-secret-key/s,
  );
});

test("an operator without any key is told where the new one is, and that it must be kept", async () => {
  await admit(own);
  const said = await accept("");
  expect(said).toContain(`a new one is in ${join(dataDir, "secret.key")}. Keep a copy in another place`);
  expect(await accept("")).not.toContain("new one");
  await admit(createSecrets(...loadSecretKeys(null, dataDir)));
});

/** Runs `secret-key accept` on a machine with this SECRET_KEY; returns its output. */
async function accept(key: string): Promise<string> {
  let said = "";
  const output = {
    write(text: string) {
      said += text;
    },
  };
  const code = await runCli(["secret-key", "accept"], {
    stdout: output,
    stderr: output,
    environment: { DATABASE_URL: db.url, DATA_DIR: dataDir, SECRET_KEY: key },
    endpoints: () => [],
    serve: async () => {},
  });
  expect(code, said).toBe(0);
  return said;
}

/** A process that runs with these keys until the test is done. */
async function run(secrets: Secrets): Promise<ProcessRegistration> {
  const holding = await registerProcess(db, secrets);
  onTestFinished(() => holding.stop());
  return holding;
}

test("a new key comes into use first in the ring, once every running process has it", async () => {
  const both = createSecrets(SECRET_KEY, OTHER_KEY);
  const promoted = createSecrets(OTHER_KEY, SECRET_KEY);
  const old = await run(own);
  await expect(admit(promoted)).rejects.toThrow(
    /is new, and what it seals could not be opened by .*\(process \d+\).*SECRET_KEY=old,new/s,
  );
  await run(both);
  await old.stop();
  await admit(promoted);
});

test("a machine that lacks one of the keys in use is told which, and what to do", async () => {
  await admit(own);
  await admit(createSecrets(OTHER_KEY, SECRET_KEY));
  for (const [lacking, missing] of [
    [own, other],
    [other, own],
  ] as const) {
    const name = shortFingerprint(missing.fingerprints[0]);
    await expect(admit(lacking)).rejects.toThrow(
      new RegExp(`lacks a secret key that the database needs: ${name}.*SECRET_KEY.*secret-key retire`, "s"),
    );
  }
  await admit(createSecrets(SECRET_KEY, OTHER_KEY));
});

test("a retired key may be missing or in the ring, but not come first again", async () => {
  await admit(own);
  await admit(createSecrets(OTHER_KEY, SECRET_KEY));
  await retireSecretKey(db, own.fingerprints[0]);
  await admit(other);
  await admit(createSecrets(OTHER_KEY, SECRET_KEY));
  await expect(admit(createSecrets(SECRET_KEY, OTHER_KEY))).rejects.toThrow(/is retired: put .* first/);
});

test("a process that was killed is forgotten, and one that stopped is so at once", async () => {
  const killed = await registerProcess(db, own);
  const promoted = createSecrets(OTHER_KEY, SECRET_KEY);
  await db.run(sql`update running_processes set seen_at = now() - interval '89 s'`);
  await expect(admit(promoted)).rejects.toThrow("is new");
  await db.run(sql`update running_processes set seen_at = now() - interval '91 s'`);
  await admit(promoted);
  await killed.stop();
});

test("a running process whose keys are out of date says so in its log", async () => {
  const lines: string[] = [];
  const log = { error: (_: object, text: string) => lines.push(text), warn: () => {} } as unknown as Log;
  const holding = await registerProcess(db, own, log);
  onTestFinished(() => holding.stop());
  await holding.renew();
  expect(lines).toEqual([]);
  await db.run(sql`insert into secret_keys (fingerprint) values (${other.fingerprints[0]})`);
  await holding.renew();
  expect(lines).toEqual([expect.stringMatching(/out of date: this machine lacks a secret key/)]);
});
