/** A submission while the database does not answer. */
import sql from "sql-template-tag";
import { afterEach, expect, test } from "vitest";
import { createRequestDatabase } from "#platform/database/request-database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "#test/support/database-proxy.ts";
import type { SmtpClient } from "#test/support/smtp-client.ts";
import { handIn, startSubmission } from "#test/support/submission.ts";

/** The deadline is some five seconds; without it there is no answer at all. */
const REPLY_MS = 20_000;

let way: DatabaseProxy | undefined;
const submission = await startSubmission(async (database) => {
  way = await openDatabaseProxy(database.url);
  return createRequestDatabase(way.url, { size: 4, name: "silent submission", onError: () => {} });
});
const { database } = submission.service;
const clients: SmtpClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  if (way) way.lost = "nothing";
  way?.thaw();
});

const mail = (subject: string) =>
  ["From: orders@shop.test", "To: ada@example.test", `Subject: ${subject}`, "", "Hello"].join("\r\n");
const recipients = ["ada@example.test", "bob@example.test"];
const stored = async (subject: string) =>
  (await database.rows(sql`select from messages where subject = ${subject}`)).length;

test.each([
  ["freezes and wakes", () => way?.freeze()],
  [
    "stores it and is not heard",
    () => {
      if (way) way.lost = "answers";
    },
  ],
])(
  "a message during which the database %s is answered 451 in time, and stored once when it is submitted again",
  async (subject, fall) => {
    const client = await submission.loggedIn();
    clients.push(client);
    expect(await handIn(client, mail(`before it ${subject}`), recipients)).toMatch(/^250/);
    for (const to of recipients) {
      if (to === recipients[0]) await client.say("MAIL FROM:<me@shop.test>");
      await client.say(`RCPT TO:<${to}>`);
    }
    await client.say("DATA");
    fall();
    const began = performance.now();
    client.write(`${mail(subject)}\r\n.\r\n`);
    expect(await client.reply()).toMatch(/^451 4.3.0/);
    expect(performance.now() - began).toBeLessThan(REPLY_MS);
    if (way) way.lost = "nothing";
    way?.thaw();
    const again = await handIn(client, mail(subject), recipients);
    expect(again).toMatch(/^250/);
    expect(await stored(subject)).toBe(2);
    // After it was accepted, the same message is a new one.
    expect(await handIn(client, mail(subject), recipients)).toMatch(/^250/);
    expect(await stored(subject)).toBe(4);
  },
);
