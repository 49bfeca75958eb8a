import { createSecretKey, generateKeyPairSync } from "node:crypto";
import { afterAll, expect, it, vi } from "vitest";
import type { TransportEvents } from "#delivery/message/transport.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { workedMs } from "#test/support/cpu-time.ts";
import { leased, recordTransport } from "#test/support/transport-recorder.ts";
import { type ComposeOptions, prepare } from "./compose-leased-message.ts";
import { openAssemblyThread } from "./open-assembly-thread.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

const options = {
  findIdentity: async () => ({
    signingKey: { domain: "sender.test", selector: "mail", privateKey },
    returnPathHost: "bounce.test",
  }),
  returnPathKey: createSecretKey(Buffer.alloc(32, 1)),
};

it("composes 32 messages at a time, and the others when their turn comes", async () => {
  let begun = 0;
  const content = () => {
    begun++;
    return {
      fromName: null,
      toName: null,
      subject: "Hello",
      html: null,
      text: "Hello",
      attachments: [],
      headers: [],
      returnPathHost: null,
    };
  };
  const messages = Array.from({ length: 100 }, (_, at) =>
    leased(`user${at}`, { has_content: false, content }),
  );
  const composed = messages.map((message) => prepare(message, options, {} as TransportEvents));

  // After everything that needs no other thread: no signature has come back yet.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(begun).toBe(32);

  const recipients = (await Promise.all(composed)).map((one) => one?.rcptTo);
  expect(recipients).toEqual(messages.map(({ localpart }) => `${localpart}@example.test`));
});

const composed = async (change: Parameters<typeof leased>[1]) => {
  const raw = String((await prepare(leased("ada", change), options, recordTransport()))?.message);
  const types = [...raw.matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, type]) => type);
  return { types, body: raw.slice(raw.indexOf("\r\n\r\n") + 4) };
};
const tracked = {
  headers: [],
  return_path_host: null,
  sending_ip: null,
  routing_rule_id: null,
  is_tracked: true,
};

it.each([
  ["Line one\nLine two", "Line one\r\nLine two\r\n"],
  ["1 < 2 & <b\n\n  indented\n", "1 < 2 & <b\r\n\r\n  indented\r\n"],
  ["https://shop.test/?a=1", "https://shop.test/?a=1\r\n"],
])("sends the plain text %j alone, word for word, tracked or not", async (text, body) => {
  for (const particulars of [null, tracked]) {
    expect(await composed({ text, html: null, particulars })).toEqual({ types: ["text/plain"], body });
  }
});

it("keeps a plain text plain beside its attachments, and in any script", async () => {
  const file = { filename: "a.pdf", content: "aGVsbG8=", content_type: "application/pdf" };
  const attachments = [{ ...file, disposition: "attachment" as const, content_id: null }];
  const { types } = await composed({ text: "Hello", html: null, attachments });
  expect(types).toEqual(["multipart/mixed", "text/plain", "application/pdf"]);
  const { types: hebrew, body } = await composed({ text: "שלום", html: null });
  expect(hebrew).toEqual(["text/plain"]);
  expect(Buffer.from(body, "base64").toString().trim()).toBe("שלום");
});

it("gives HTML its text part, and the text of a campaign an HTML part with directions", async () => {
  const both = ["multipart/alternative", "text/plain", "text/html"];
  expect((await composed({ html: "<p>Hello</p>", text: null })).types).toEqual(both);
  const given = { fromName: null, toName: null, subject: "Hi", html: null, attachments: [], headers: [] };
  const content = () => ({ ...given, text: "Hello", returnPathHost: null });
  const { types, body } = await composed({ has_content: false, text: null, content });
  expect(types).toEqual(both);
  expect(body).toContain('<p dir="auto">Hello</p>');
});

const line = openAssemblyThread(new URL("../../processes/assembly-thread.ts", import.meta.url));
afterAll(() => line.close());

const large = "a < b & c  d\n".repeat(100_000);
const aside = (content: object): ComposeOptions => ({
  ...options,
  loadContent: async () => ({ html: null, text: null, raw: null, attachments: null, ...content }),
  assembleAside: (mail) => line.assemble(mail),
});
const largeMessage = (who: string) => leased(who, { is_large: true, text: null });

it("assembles a large message beside the event loop, octet by octet as on it", async () => {
  const files = [
    { filename: "a.pdf", content: "aGVsbG8=", content_type: "application/pdf", disposition: "attachment" },
  ];
  const attachments = JSON.stringify(files.map((file) => ({ ...file, content_id: null })));
  const raw = Buffer.from(
    `From: shop@sender.test\r\nSubject: Hi\r\n\r\n${"Hello  you \t\r\n".repeat(20_000)}`,
  );
  const withoutRandom = (message: Buffer | undefined) =>
    message?.toString("latin1").replaceAll(/=_[amr][\w-]{36}|DKIM-Signature:(?:.*\r\n )*.*\r\n/g, "");
  for (const content of [{ text: large }, { html: `<p>${large}` }, { text: "Hi", attachments }, { raw }]) {
    const message = largeMessage("ada");
    const events = recordTransport();
    const { assembleAside: _, ...onTheLoop } = aside(content);
    const here = await prepare(message, onTheLoop, events);
    const there = await prepare(message, aside(content), events);
    expect(withoutRandom(there?.message)).toBe(withoutRandom(here?.message));
    expect(there?.message.includes("DKIM-Signature: v=1")).toBe(true);
    expect(Buffer.isBuffer(there?.message)).toBe(true);
  }
});

it("spends on a large text a small part of the event loop's time that its assembly takes", async () => {
  const events = recordTransport();
  const { assembleAside: _, ...onTheLoop } = aside({ text: large });
  const timeOf = async (composing: ComposeOptions) => {
    await prepare(largeMessage("ada"), composing, events);
    const before = workedMs();
    await prepare(largeMessage("ada"), composing, events);
    return workedMs() - before;
  };
  const here = await timeOf(onTheLoop);
  expect(await timeOf(aside({ text: large }))).toBeLessThan(here / 4);
});

it("loads one large message of a workspace at a time, and those of another meanwhile", async () => {
  const begun: string[] = [];
  const loading = Promise.withResolvers<void>();
  const composing: ComposeOptions = {
    ...options,
    async loadContent({ message_id: id }) {
      begun.push(id);
      await loading.promise;
      return { html: null, text: "Hi", raw: null, attachments: null };
    },
  };
  const [first, second, third] = [largeMessage("a1"), largeMessage("a2"), largeMessage("a3")];
  const other = { ...largeMessage("b"), workspace_id: asWorkspaceId(newId()) };
  const composed = [first, second, third, other].map((one) => prepare(one, composing, recordTransport()));
  await vi.waitFor(() => expect(begun).toEqual([first.message_id, other.message_id]), 20_000);
  loading.resolve();
  expect(await Promise.all(composed)).not.toContain(null);
  expect(begun).toHaveLength(4);
});

it("fails a large message that cannot be assembled, and goes on with the next one", async () => {
  const events = recordTransport();
  const raw = Buffer.from("no header at all");
  expect(await prepare(largeMessage("bad"), aside({ raw }), events)).toBeNull();
  expect(events.heard).toMatchObject([{ kind: "unsendable", who: "bad" }]);
  expect(await prepare(largeMessage("good"), aside({ text: "Hi" }), events)).not.toBeNull();
});

it("puts a large message back whose content could not be loaded, and fails one whose content was removed", async () => {
  const events = recordTransport();
  const away = { ...options, loadContent: () => Promise.reject(new Error("the database is away")) };
  expect(await prepare(largeMessage("away"), away, events)).toBeNull();
  const removed = { ...options, loadContent: async () => undefined };
  expect(await prepare(largeMessage("removed"), removed, events)).toBeNull();
  expect(events.heard).toMatchObject([
    { kind: "requeue", who: "away" },
    { kind: "unsendable", who: "removed" },
  ]);
});
