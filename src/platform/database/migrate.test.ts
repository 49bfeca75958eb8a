import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { migrate } from "./migrate.ts";

const db = await testDatabase();
const digests = () => db.rows(sql`select name, digest from schema_migrations order by name`);

test("a database that is up to date is unchanged", async () => {
  const before = await digests();
  expect(await migrate(db)).toEqual([]);
  expect(await digests()).toEqual(before);
});

test("a database from before digests gets those of the files", async () => {
  const before = await digests();
  await db.run(sql`update schema_migrations set digest = null`);
  expect(await migrate(db)).toEqual([]);
  expect(await digests()).toEqual(before);
});

test.each([
  ["another state of a migration", sql`update schema_migrations set digest = 'x' where name like '0003-%'`],
  ["a migration of a newer version", sql`insert into schema_migrations (name) values ('9999-later.sql')`],
])("a database with %s is refused with a sentence", async (_, change) => {
  await db.run(change);
  await expect(migrate(db)).rejects.toThrow(
    /migration 0003-.*another content.*run that version|9999-later.sql, which/,
  );
});
