/** The outcome of a message in GET /messages/{id}, for each kind of receiver. */
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port) },
  zone: {
    ...mailDomain("example.test"),
    ...mailDomain("encrypting.test", "127.0.0.2"),
    ...mailDomain("broken-tls.test", "127.0.0.3"),
    "nobody-home.test": { MX: [[10, "mx.nobody-home.test"]] },
    "mx.nobody-home.test": { AAAA: ["::1"] },
    "no-mail.test": { MX: [[0, "."]] },
    "broken-dns.test": "servfail",
  },
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

test("a greylisted message is retried with the same Message-ID and delivered once", async () => {
  const id = await scene.send("greylist@example.test");
  const waiting = await scene.messageWhen("deferred", id);
  expect(waiting).toMatchObject({
    attempts: 1,
    error_message: expect.stringContaining("450 4.7.1 Greylisted"),
  });
  const wait = Date.parse(waiting.next_attempt_at) - Date.parse(waiting.time);
  expect(wait).toBeGreaterThanOrEqual(300_000);

  await scene.database.run(sql`update delivery_queue set due_at = now() where message_id = ${id}`);
  const delivered = await scene.messageWhen("delivered", id);
  expect(delivered).toMatchObject({ attempts: 2, error_message: null, next_attempt_at: null });
  expect(mx.messages.filter(({ rcptTo }) => rcptTo === "greylist@example.test")).toHaveLength(1);
  const senders = mx.commands.filter(
    (line, at) => line.startsWith("MAIL") && mx.commands[at + 1]?.includes("greylist@"),
  );
  expect(senders).toHaveLength(2);
  expect(new Set(senders).size).toBe(1);
});

test("an unknown recipient bounces, with the receiver's reply in the log and in the timeline", async () => {
  const id = await scene.send("unknown@example.test");
  const { timeline, ...message } = await scene.messageWhen("bounced", id);
  expect(message).toMatchObject({
    attempts: 1,
    error_message: "550 5.1.1 No such user here",
    next_attempt_at: null,
  });
  expect(timeline.at(-1)).toMatchObject({
    type: "bounced",
    attempt: 1,
    mx_host: "mx.example.test",
    code: 550,
    enhanced_code: "5.1.1",
    detail: "550 5.1.1 No such user here",
  });
});

test.each([
  ["nobody-home.test", /^connect E/],
  ["broken-dns.test", /DNS look-up for broken-dns.test failed/],
])("a message to %s is deferred", async (domain, why) => {
  const message = await scene.messageWhen("deferred", await scene.send(`ada@${domain}`));
  expect(message).toMatchObject({ attempts: 1, error_message: expect.stringMatching(why) });
  expect(Date.parse(message.next_attempt_at)).toBeGreaterThan(Date.now());
});

test.each([
  ["no-such-domain.test", "5.1.2", /does not exist/],
  ["no-mail.test", "5.1.10", /null MX/],
])("a message to %s bounces without a connection to a host", async (domain, code, why) => {
  const { timeline, ...message } = await scene.messageWhen("bounced", await scene.send(`ada@${domain}`));
  expect(message.error_message).toMatch(why);
  expect(timeline.at(-1)).toMatchObject({ type: "bounced", enhanced_code: code, mx_host: null });
});

// Mail hosts share one port and differ by address, as on the Internet; macOS has only one loopback address.
test.skipIf(process.platform === "darwin")(
  "mail is encrypted if the receiver offers STARTTLS, and sent in clear text if its TLS is broken",
  async () => {
    await using encrypting = await startFakeMx({ host: "127.0.0.2", port: mx.port, tls: "offered" });
    await using brokenTls = await startFakeMx({ host: "127.0.0.3", port: mx.port, tls: "broken" });
    await scene.messageWhen("delivered", await scene.send("ada@encrypting.test"));
    await scene.messageWhen("delivered", await scene.send("ada@broken-tls.test"));
    expect(encrypting.messages.map(({ tls }) => tls)).toEqual([true]);
    expect(brokenTls.messages.map(({ tls }) => tls)).toEqual([false]);
    expect(brokenTls.commands).toContain("STARTTLS");
  },
);
