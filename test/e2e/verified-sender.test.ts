import PostalMime from "postal-mime";
import { afterAll, expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene, platform } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({ env: { SMTP_PORT: String(mx.port) }, zone: mailDomain("example.test") });
const { program } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const email = "ada@example.test";
const isVerified = async () => {
  const { body } = await program.call("GET", "/verified-senders");
  return body.data.find((sender: { email: string }) => sender.email === email)?.is_verified;
};

test("an address is confirmed with the button behind the mailed link, and only then may mail be sent from it", async () => {
  expect((await program.call("POST", "/verified-senders", { email, from_name: "Ada" })).status).toBe(201);
  const [mail] = await mx.waitForMessages(1);
  const { from, to, text = "" } = await PostalMime.parse(mail?.raw ?? "");
  expect(from?.address).toBe(platform.PLATFORM_FROM);
  expect(to?.[0]?.address).toBe(email);
  const { body: log } = await program.call("GET", "/messages?source=platform");
  expect(log.data.messages).toMatchObject([
    { localpart: "ada", domain: "example.test", origin_name: "Platform" },
  ]);

  const [link = ""] = /http:\/\/\S+/.exec(text) ?? [];
  expect(link).toContain(`${program.url}/verify-sender/`);
  const page = await (await fetch(link)).text();
  expect(page).toContain(`<button>Yes, confirm ${email}</button>`);
  expect(await isVerified()).toBe(false);
  const sending = { to: "bob@example.test", subject: "Hello", body: "Hello", from_email: email };
  expect((await program.call("POST", "/emails/send", sending)).status).toBe(400);

  const body = new URLSearchParams();
  const confirmed = await fetch(link, { method: "POST", body });
  expect(confirmed.status).toBe(200);
  expect(await isVerified()).toBe(true);
  expect((await program.call("POST", "/emails/send", sending)).status).toBe(201);
  expect((await mx.waitForMessages(2))[1]?.rcptTo).toBe("bob@example.test");
  expect((await fetch(link, { method: "POST", body })).status).toBe(404);
});
