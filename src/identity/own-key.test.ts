import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, expect, test } from "vitest";
import { SECRET_KEY, startService } from "../../test/support/service.ts";
import { runCli } from "../cli/program.ts";
import { createSecrets } from "../platform/secrets.ts";
import { requireOwnKey } from "./own-key.ts";

const service = await startService();
const db = service.database;
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-own-key-"));
afterAll(() => rm(dataDir, { recursive: true, maxRetries: 5 }));
const own = createSecrets(SECRET_KEY);
const OTHER_KEY = "another secret key that only tests use";
const other = createSecrets(OTHER_KEY);

beforeEach(async () => {
  await db.run(sql`delete from secret_key_fingerprint`);
  await db.run(sql`delete from sending_domains`);
});

test("a database belongs to the key of its first start, and a machine with another one does not start", async () => {
  await requireOwnKey(db, own);
  await requireOwnKey(db, own);
  await expect(requireOwnKey(db, other)).rejects.toThrow(
    /belongs to another secret key .*SECRET_KEY.*backup/s,
  );
});

test("of two machines that start at once with keys of their own one starts", async () => {
  const starts = await Promise.allSettled([requireOwnKey(db, own), requireOwnKey(db, other)]);
  expect(starts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a database from before takes the key that opens its DKIM keys, and no other", async () => {
  await service.call("POST", "/sending-domains", { domain: "acme.example" });
  await expect(requireOwnKey(db, other)).rejects.toThrow("belongs to another secret key");
  await requireOwnKey(db, own);
  await expect(requireOwnKey(db, other)).rejects.toThrow("belongs to another secret key");
});

test("where the key is lost for good, the operator has the database go on with another", async () => {
  await service.call("POST", "/sending-domains", { domain: "acme.example" });
  await requireOwnKey(db, own);
  const quiet = { write: () => {} };
  const code = await runCli(["secret-key", "accept"], {
    stdout: quiet,
    stderr: quiet,
    environment: { DATABASE_URL: db.url, DATA_DIR: dataDir, SECRET_KEY: OTHER_KEY },
    endpoints: () => [],
    serve: async () => {},
  });
  expect(code).toBe(0);
  await requireOwnKey(db, other);
  await expect(requireOwnKey(db, own)).rejects.toThrow("belongs to another secret key");
});
