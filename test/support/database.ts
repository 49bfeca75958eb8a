/** A separate database for each test file: a clone of the migrated template, dropped after the file. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { withDatabase } from "./global-setup.ts";

/** A hundred concurrent requests of a test share four connections; on a slow machine they wait long for one. */
const CONNECT_MS = 60_000;

/** Call at the top of a test file or in beforeAll. */
export async function testDatabase(): Promise<Database> {
  const database = await newDatabase(inject("template"));
  afterAll(() => database[Symbol.asyncDispose]());
  return database;
}

/** A database for a part of a test file. The default template gives an empty one, as an operator creates it. */
export async function newDatabase(template = "template1"): Promise<Database & AsyncDisposable> {
  const serverUrl = inject("serverUrl");
  const name = `test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await administer(serverUrl, `create database ${name} template ${template}`);
  const url = withDatabase(serverUrl, name);
  const deadlines = { connectMs: CONNECT_MS };
  const database = createDatabase(url, { size: 4, name: "test", onError: () => {}, deadlines });
  return {
    ...database,
    url,
    async [Symbol.asyncDispose]() {
      await database.close();
      await administer(serverUrl, `drop database ${name} with (force)`);
    },
  };
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
