/** Large messages on the submission port: their cost for the event loop, their queue and their limits. */
import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { afterEach, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { shareOfThisThread } from "#test/support/cost.ts";
import type { SmtpClient } from "#test/support/smtp-client.ts";
import { handIn, startSubmission } from "#test/support/submission.ts";
import { SubmissionReader } from "./read-large-in-thread.ts";

/** Blocks the storing of messages until it resolves. */
let held: Promise<void> | null = null;
const { service, loggedIn } = await startSubmission((database) => ({
  ...database,
  rows: async <Row>(...call: Parameters<typeof database.rows>) => {
    if (call[1] === "accept and judge messages") await held;
    return database.rows<Row>(...call);
  },
}));
const clients: SmtpClient[] = [];
afterEach(() => {
  held = null;
  for (const client of clients.splice(0)) client.close();
});

async function session(): Promise<SmtpClient> {
  const client = await loggedIn();
  clients.push(client);
  return client;
}

const context = () => ({ id: newId(), now: new Date(), hostname: "mail.test", isSmtpUtf8: false });
const mail = (fields: readonly string[] = [], body = "Hello Ada") =>
  ["From: Shop <orders@shop.test>", "To: ada@example.test", "Subject: Hello", ...fields, "", body].join(
    "\r\n",
  );
const file = (megabytes: number) =>
  mail(
    ["MIME-Version: 1.0", "Content-Type: application/pdf; name=a.pdf", "Content-Transfer-Encoding: base64"],
    `${"QUJD".repeat(19)}\r\n`.repeat((megabytes * 1024 * 1024) / 78),
  );

test("a message of twenty megabytes is stored whole", async () => {
  const given = file(20);
  expect(await handIn(await session(), given)).toMatch(/^250 /);
  const row = await service.database.row<{ raw: Buffer }>(sql`
    select raw from submissions where workspace_id = ${service.workspaceId} order by id desc limit 1`);
  const [, body = ""] = given.split("\r\n\r\n");
  expect(row?.raw.subarray(-body.length - 2).equals(Buffer.from(`${body}\r\n`))).toBe(true);
});

test("reading it does not block the event loop", async () => {
  const reader = new SubmissionReader();
  await reader.read(Buffer.from(file(1)), context());
  const octets = Buffer.from(file(20));
  let digestOf = () => "";
  const share = await shareOfThisThread(async () => {
    const { raw, digest } = await reader.read(octets, context());
    expect(raw.length).toBeGreaterThan(octets.length);
    digestOf = digest;
  });
  await reader.close();
  expect(share).toBeLessThan(0.5);
  expect(digestOf()).toBe(createHash("sha256").update(octets).digest("hex"));
});

test("one that takes too long to read is answered 451", async () => {
  const reader = new SubmissionReader({ deadlineMs: 1, heapMb: 512 });
  await expect(reader.read(Buffer.from(file(1)), context())).rejects.toThrow(
    "4.3.2 The message takes too long to read: retry later",
  );
  await reader.close();
});

test("several of one workspace are all accepted, one after the other", async () => {
  const answers = Array.from({ length: 4 }, async () => handIn(await session(), file(5)));
  expect((await Promise.all(answers)).map((answer) => answer.slice(0, 3))).toEqual(Array(4).fill("250"));
});

test("a workspace that submits too many at once is refused, and its small messages overtake them", async () => {
  const { most } = limits.largeSubmissionsWaiting;
  const sessions = await Promise.all(Array.from({ length: most + 2 }, session));
  const small = await session();
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  const answers = sessions.map((client) => handIn(client, file(1.2)));
  expect(await Promise.race(answers)).toBe(
    "451 4.7.1 RATE_LIMIT_EXCEEDED: Too many large messages of this workspace are being accepted: retry shortly",
  );
  held = null;
  expect(await handIn(small, mail())).toMatch(/^250 /);
  release();
  const all = await Promise.all(answers);
  expect(all.filter((answer) => answer.startsWith("250 "))).toHaveLength(most + 1);
});

test("one whose text or structure is too large is refused with the reason", async () => {
  const client = await session();
  expect(await handIn(client, mail([], "abc\r\n".repeat(600_000)))).toMatch(
    /^552 5\.3\.4 A text of the message has more than 2000000 characters/,
  );
  const nested = Array.from(
    { length: 30 },
    (_, level) => `--b${level}\r\nContent-Type: multipart/mixed; boundary=b${level + 1}\r\n\r\n`,
  ).join("");
  const fields = ["Content-Type: multipart/mixed; boundary=b0"];
  expect(await handIn(client, mail(fields, nested))).toMatch(/^554 5\.6\.0 .* more than 20 levels/);
});
