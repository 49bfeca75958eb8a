import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { insertInboundMails } from "#inbound/returns/store.ts";
import { newId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { runCli } from "./program.ts";

const db = await testDatabase();
await db.run(sql`insert into workspaces (id, name) values (${newId()}, 'Test')`);

/** Shows a mail of these octets: to a person at a terminal, or to a file. */
async function shown(raw: Buffer, isTTY: boolean): Promise<Buffer> {
  const id = newId();
  const mail = {
    id,
    kind: "operator",
    mailFrom: "",
    rcptTo: "abuse@bounce.test",
  } as const;
  const plenty = { waiting: 1_000, bytes: 1_000_000 };
  const backlog = { signed: plenty, open: plenty, network: plenty, address: 1_000 };
  const mails = [{ ...mail, raw, bytes: raw.length }];
  await insertInboundMails(db, { network: "192.0.2.1", mails }, backlog, new Date());
  const written: Uint8Array[] = [];
  const code = await runCli(["mail", "show", "--id", id], {
    stdout: { isTTY, write: (text) => written.push(Buffer.from(text)) },
    stderr: { write: () => {} },
    environment: { DATABASE_URL: db.url },
    endpoints: () => [],
    serve: async () => {},
  });
  expect(code).toBe(0);
  return Buffer.concat(written);
}

const octets = Buffer.from([...Buffer.from("Subject: caf"), 0xe9, 0x1b, 0x0d, 0x0a]);

test("a mail is written to a file octet by octet, whatever its charset", async () => {
  expect(await shown(octets, false)).toEqual(octets);
});

test("no control character of a mail reaches a terminal", async () => {
  expect((await shown(octets, true)).toString()).toBe("Subject: caf\ufffd\n");
});
