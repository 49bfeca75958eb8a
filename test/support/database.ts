/** A database of its own for a test file: a clone of the migrated template, dropped when the file is done. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { createDatabase, type Database } from "../../src/platform/database/pool.ts";
import { withDatabase } from "./global-setup.ts";

export interface TestDatabase extends Database {
  readonly url: string;
}

/** Call at the top of a test file or in beforeAll. */
export async function testDatabase(): Promise<TestDatabase> {
  const serverUrl = inject("serverUrl");
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await administer(serverUrl, `create database ${name} template ${inject("template")}`);
  const url = withDatabase(serverUrl, name);
  const database = createDatabase(url, { size: 4, name: "test", onError: () => {} });
  afterAll(async () => {
    await database.close();
    await administer(serverUrl, `drop database ${name} with (force)`);
  });
  return { ...database, url };
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
