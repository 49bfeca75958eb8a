/** Posthaste as it is when nobody has configured it: its own PostgreSQL, and no mail leaves the machine. */
import { afterAll, expect, test } from "vitest";
import { openInbox } from "../support/inbox.ts";
import { publish } from "../support/publish.ts";
import { openScene } from "../support/scene.ts";

const scene = await openScene({ env: { DATABASE_URL: "", MAIL_MODE: "" } });
const { program, dns } = scene;
afterAll(() => scene[Symbol.asyncDispose]());

const inbox = async (path = ""): Promise<ReturnType<typeof JSON.parse>> =>
  JSON.parse(await (await openInbox(program.url, `/inbox/messages${path}`)).text());

test("a message sent through the API stands in the local inbox, signed as it would be for the world", async () => {
  const { body } = await program.call("POST", "/sending-domains", { domain: "shop.test" });
  const path = `/sending-domains/${body.data.id}`;
  publish(dns, (await program.call("GET", `${path}/dns-status`)).body.data.dns.records);
  await program.call("POST", `${path}/verify`);
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

test("nothing asks the DNS about a recipient", async () => {
  await scene.messageWhen("delivered", await scene.send("ada@somewhere.test"));
  expect(dns.questions.filter(({ name }) => name.endsWith("somewhere.test"))).toEqual([]);
});
