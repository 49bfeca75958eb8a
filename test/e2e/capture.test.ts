/** Posthaste without configuration: with the embedded PostgreSQL and in capture mode. */
import { afterAll, expect, test } from "vitest";
import { INBOX_TOKEN, openInbox } from "#test/support/inbox.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { openScene } from "#test/support/scene.ts";

const scene = await openScene({
  env: { DATABASE_URL: "", MAIL_MODE: "", PLATFORM_FROM: "", BOOTSTRAP_PLAN: "" },
});
const { program, dns } = scene;
afterAll(() => scene[Symbol.asyncDispose]());

const inbox = async (path = ""): Promise<ReturnType<typeof JSON.parse>> =>
  JSON.parse(await (await openInbox(program.url, `/inbox/messages${path}`)).text());

test("a message sent through the API is in the local inbox with its DKIM signature", async () => {
  await addVerifiedDomain(program.call, dns, "shop.test");
  const id = await scene.send("Ada <ada@example.test>", {
    from_email: "orders@shop.test",
    subject: "Your order",
  });
  await scene.messageWhen("delivered", id);

  expect(await inbox()).toEqual([
    {
      id,
      from: "orders@shop.test",
      to: "ada@example.test",
      subject: "Your order",
      received_at: expect.any(String),
    },
  ]);
  const message = await inbox(`/${id}`);
  const signature = message.headers.find(({ name }: { name: string }) => name === "DKIM-Signature");
  expect(signature.value).toMatch(/d=shop\.test; s=ph1;/);
  expect(message.html).toContain("<p>Hello</p>");
});

test("the first message needs no settings and no sender", async () => {
  const { status, body } = await program.call("POST", "/emails/send", {
    to: "Ada <ada@example.com>",
    subject: "Hello from Posthaste",
    body: "<h1>It works</h1><p>This message never left the machine.</p>",
  });
  expect(status).toBe(201);
  await scene.messageWhen("delivered", body.data.id);
  expect((await inbox(`/${body.data.id}`)).from).toBe("posthaste@mail.posthaste.test");
});

test("the start prints the addresses of inbox and docs, and the plan", async () => {
  expect(program.recentOutput).toContain(`${program.url}/inbox?token=${INBOX_TOKEN}`);
  expect(program.recentOutput).toContain(`${program.url}/docs`);
  expect(program.recentOutput).toContain('enterprise for the workspace "Default": unlimited');
  const opened = await fetch(`${program.url}/inbox?token=${INBOX_TOKEN}`, { redirect: "manual" });
  expect(opened.status).toBe(303);
});

test("the front page links docs and inbox, and unknown API paths are answered with the envelope", async () => {
  const page = await fetch(program.url);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const text = await page.text();
  for (const path of ["/docs", "/inbox", "/readyz"]) expect(text).toContain(`href="${path}"`);
  expect((await fetch(`${program.url}/nowhere`)).status).toBe(404);
  expect((await program.call("GET", "/nowhere")).body).toMatchObject({ success: false, code: "NOT_FOUND" });
});

test("capture mode makes no DNS query about a recipient", async () => {
  await scene.messageWhen("delivered", await scene.send("ada@somewhere.test"));
  expect(dns.questions.filter(({ name }) => name.endsWith("somewhere.test"))).toEqual([]);
});
