/** An email to several recipients, as their mail servers get it. */
import PostalMime from "postal-mime";
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type ReceivedMessage, startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx({});
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port) },
  zone: { ...mailDomain("example.test"), ...mailDomain("other.test") },
});
const { program } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const send = async (email: object) => {
  const { status, body } = await program.call("POST", "/emails", email);
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data;
};
const mailTo = (to: string): Promise<ReceivedMessage> =>
  eventually(`mail to ${to}`, async () => mx.messages.find(({ rcptTo }) => rcptTo === to));
const read = async (to: string) => PostalMime.parse((await mailTo(to)).raw);

test("each recipient gets the same To, Cc and Message-ID, and nobody sees Bcc", async () => {
  const { id } = await send({
    to: ["Ada Löve <ada@example.test>", '"Shop, Inc." <bob@other.test>'],
    cc: ["cy@example.test"],
    bcc: ["secret@other.test"],
    reply_to: ["Support <help@shop.test>", "desk@shop.test"],
    subject: "Your order ✓",
    html: "<p>On its <b>way</b></p>",
    text: "My own text",
    from_name: "The Shop",
    headers: {
      "X-Order": "1042",
      References: "<earlier@shop.test>",
      "List-Unsubscribe": "<https://shop.test/u>",
    },
    attachments: [
      {
        filename: "invoice.txt",
        content: "aW52b2ljZQ==",
        content_type: "text/plain",
      },
    ],
    tags: ["order"],
    metadata: { order: "1042" },
  });
  for (const to of ["ada@example.test", "bob@other.test", "cy@example.test", "secret@other.test"]) {
    const { raw } = await mailTo(to);
    const mail = await PostalMime.parse(raw);
    expect(mail).toMatchObject({
      subject: "Your order ✓",
      messageId: `<${id}@posthaste.test>`,
      from: { name: "The Shop", address: "hello@posthaste.test" },
      to: [
        { name: "Ada Löve", address: "ada@example.test" },
        { name: "Shop, Inc.", address: "bob@other.test" },
      ],
      cc: [{ name: "", address: "cy@example.test" }],
      replyTo: [
        { name: "Support", address: "help@shop.test" },
        { name: "", address: "desk@shop.test" },
      ],
      references: "<earlier@shop.test>",
    });
    expect(mail.html).toContain("<b>way</b>");
    expect(mail.text).toContain("My own text");
    expect(Buffer.from(mail.attachments[0]?.content as ArrayBuffer).toString()).toBe("invoice");
    const headers = new Map(mail.headers.map(({ key, value }) => [key, value]));
    expect([headers.get("x-order"), headers.get("list-unsubscribe")]).toEqual([
      "1042",
      "<https://shop.test/u>",
    ]);
    expect(headers.has("bcc")).toBe(false);
    expect(Buffer.from(raw).toString("latin1")).not.toContain("secret@");
  }
  const { messages } = await eventually("all to be delivered", async () => {
    const { data } = (await program.call("GET", `/emails/${id}`)).body;
    return data.messages.every((one: { status: string }) => one.status === "delivered") && data;
  });
  expect(messages).toHaveLength(4);
  const shown = await program.call("GET", `/messages/${messages[3].id}/content`);
  expect(shown.body.data).toMatchObject({ is_rebuilt: true, text: expect.stringContaining("My own text") });
});

test("a large attachment is stored once and reaches every recipient", async () => {
  const file = Buffer.alloc(300_000, "posthaste");
  await send({
    to: ["big1@example.test", "big2@other.test"],
    subject: "Large",
    text: "See the file",
    attachments: [
      { filename: "a.bin", content: file.toString("base64"), content_type: "application/octet-stream" },
    ],
  });
  for (const to of ["big1@example.test", "big2@other.test"]) {
    const { attachments } = await read(to);
    expect(Buffer.from(attachments[0]?.content as ArrayBuffer).equals(file)).toBe(true);
  }
});

test("a batch delivers its good emails although others are refused", async () => {
  const emails = ["one@example.test", "nobody", "two@example.test"].map((to) => ({
    to: [to],
    subject: `For ${to}`,
    text: "Hello",
  }));
  const { body } = await program.call("POST", "/emails/batch", { emails });
  expect(body.data).toMatchObject({ accepted: 2, refused: 1 });
  expect((await read("one@example.test")).subject).toBe("For one@example.test");
  expect((await read("two@example.test")).subject).toBe("For two@example.test");
});

test("a scheduled email is sent at its time, but not to those who are suppressed by then", async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const { id, messages } = await send({
    to: ["late@example.test"],
    cc: ["left@example.test"],
    subject: "Later",
    text: "Hello",
    scheduled_at: at,
  });
  const { id: list } = (await program.call("POST", "/suppression-lists", { name: "Late" })).body.data;
  await program.call("POST", `/suppression-lists/${list}/entries`, { entries: "left@example.test" });
  await program.call("POST", `/messages/${id}/retry`);
  await program.call("POST", `/messages/${messages[1].id}/retry`);
  await mailTo("late@example.test");
  await scene.messageWhen("suppressed", messages[1].id);
  expect(mx.messages.some(({ rcptTo }) => rcptTo === "left@example.test")).toBe(false);
});

test("a short wait ends by itself", async () => {
  const { id } = await send({
    to: ["soon@example.test"],
    subject: "Soon",
    text: "Hello",
    scheduled_at: new Date(Date.now() + 2_500).toISOString(),
  });
  const { data } = (await program.call("GET", `/messages/${id}`)).body;
  expect(data.status).toBe("queued");
  await mailTo("soon@example.test");
  const sent = await scene.messageWhen("delivered", id);
  expect(Date.parse(sent.timeline.at(-1).time)).toBeGreaterThanOrEqual(Date.parse(sent.scheduled_at));
});
