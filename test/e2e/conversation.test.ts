/** The SMTP conversation in GET /messages/{id}, as a user of the API reads it. */
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx({ tls: "offered" });
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port) },
  zone: { ...mailDomain("example.test"), ...mailDomain("away.test", "127.9.9.9") },
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

interface Line {
  readonly time: string;
  readonly from: string;
  readonly text: string;
}

/** The conversation of the last attempt of a message. */
async function conversationOf(status: string, id: string): Promise<Line[]> {
  const { timeline } = await scene.messageWhen(status, id);
  return timeline.at(-1).conversation;
}

const said = (lines: readonly Line[]) => lines.map(({ from, text }) => `${from}: ${text}`);

test("a delivered message shows the opening of its connection and its own transaction, with times", async () => {
  const id = await scene.send("ann@example.test", { body: "<p>only for Ann</p>" });
  const lines = await conversationOf("delivered", id);
  const texts = said(lines);
  expect(texts[0]).toMatch(/^connection: connecting to mx\.example\.test \[127\.0\.0\.1\] on port/);
  expect(texts).toContain("client: EHLO mail.posthaste.test");
  expect(texts).toContainEqual(expect.stringMatching(/^connection: TLSv1\.3 with TLS_/));
  expect(texts).toContainEqual(expect.stringMatching(/^client: MAIL FROM:<b\.[a-z0-9]+@bounce\./));
  expect(texts).toContain("client: RCPT TO:<ann@example.test>");
  expect(texts).toContainEqual(expect.stringMatching(/^client: \(message of [\d,]+ bytes\)$/));
  expect(texts.at(-1)).toMatch(/^server: 250 2\.0\.0/);
  expect(texts.join()).not.toContain("only for Ann");
  for (const { time } of lines) expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/);
});

test("messages of one connection share its opening, which is stored once, and see no other recipient", async () => {
  const names = ["bob", "cyd", "dee"];
  const ids = await Promise.all(names.map((name) => scene.send(`${name}@example.test`)));
  for (const [at, id] of ids.entries()) {
    const texts = said(await conversationOf("delivered", id));
    expect(texts[0]).toMatch(/^connection: connecting to/);
    const recipients = texts.filter((text) => text.startsWith("client: RCPT"));
    expect(recipients).toEqual([`client: RCPT TO:<${names[at]}@example.test>`]);
  }
  const openings = await scene.database.row<{ stored: string; used: string }>(sql`
    select (select count(*) from smtp_openings) as stored, count(*) as used from message_events
    where opening_id is not null`);
  expect(Number(openings?.stored)).toBeLessThan(Number(openings?.used));
});

test("each attempt has its own conversation, with its own replies", async () => {
  const id = await scene.send("greylist@example.test");
  expect(said(await conversationOf("deferred", id))).toContainEqual(
    expect.stringMatching(/^server: 450 4\.7\.1 Greylisted/),
  );
  expect((await scene.program.call("POST", `/messages/${id}/retry`)).status).toBe(200);
  const { timeline } = await scene.messageWhen("delivered", id);
  expect(timeline.map((entry: { conversation: Line[] | null }) => entry.conversation !== null)).toEqual([
    false,
    true,
    true,
  ]);
  expect(said(timeline[2].conversation).at(-1)).toMatch(/^server: 250 2\.0\.0/);
});

test("a message that is refused after DATA shows its size and the refusal", async () => {
  const texts = said(await conversationOf("bounced", await scene.send("reject-at-dot@example.test")));
  expect(texts.at(-2)).toMatch(/^client: \(message of [\d,]+ bytes\)$/);
  expect(texts.at(-1)).toBe("server: 554 5.7.1 Message content rejected");
});

test("where no server listens the conversation says what was tried", async () => {
  const texts = said(await conversationOf("deferred", await scene.send("ann@away.test")));
  expect(texts[0]).toMatch(/^connection: connecting to mx\.away\.test \[127\.9\.9\.9\]/);
  expect(texts.at(-1)).toMatch(/^connection: .*ECONNREFUSED/);
});
