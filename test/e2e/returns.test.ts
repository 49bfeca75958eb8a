/** Bounces, complaints and unsubscribe mails for messages of the program, received on its inbound port. */
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { complaintReport, deliveryReport, sendIn } from "#test/support/returns.ts";
import { mailDomain, openScene, platform } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port), INBOUND_PORT: "0" },
  zone: mailDomain("example.test"),
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});
const { program, database } = scene;
const inboundPort = await eventually(
  "the inbound port",
  async () => program.logged("listening for inbound mail").at(-1)?.port,
);

/** Sends a message; returns its id and the copy that the receiver got. */
async function delivered(to: string, email = {}) {
  const id = await scene.send(to, email);
  await scene.messageWhen("delivered", id);
  const received = mx.messages.find(({ rcptTo }) => rcptTo === to);
  if (received === undefined) throw new Error(`no message arrived for ${to}`);
  return { id, mailFrom: received.mailFrom, text: received.raw.toString() };
}

async function allProcessed(): Promise<void> {
  await eventually("all mail to be processed", async () => {
    const [left] = await database.rows<{ count: number }>(sql`
      select count(*) from inbound_mails where status = 'received'`);
    return left?.count === 0;
  });
}

test("a delivery report to the return path bounces the message and suppresses the address", async () => {
  const { id, mailFrom } = await delivered("gone@example.test");
  expect(await sendIn(inboundPort, mailFrom, deliveryReport("gone@example.test"))).toBe("250 2.0.0 Accepted");
  expect(await scene.messageWhen("bounced", id)).toMatchObject({
    error_message: "550 5.1.1 No such user here",
  });
  const { body } = await program.call("GET", "/bounces");
  expect(body.data.bounces).toEqual([expect.objectContaining({ message_id: id, bounce_type: "hard" })]);

  const again = await scene.send("gone@example.test");
  await scene.messageWhen("suppressed", again);
});

test("a complaint with the message's header marks it as complained, and mails name the address for complaints", async () => {
  const { id, text } = await delivered("annoyed@example.test");
  const token = /^X-Posthaste-Message: (\S+)\r$/m.exec(text)?.[1] ?? "";
  expect(text).toContain(`\r\nCFBL-Address: fbl@${platform.BOUNCE_DOMAIN}; report=arf\r\n`);
  expect(text).toContain(`\r\nCFBL-Feedback-ID: ${token}\r\n`);
  expect(
    await sendIn(inboundPort, `fbl@${platform.BOUNCE_DOMAIN}`, complaintReport(token), "fbl@provider.test"),
  ).toBe("250 2.0.0 Accepted");
  await scene.messageWhen("complained", id);
});

test("bounces of a domain with a custom return path arrive there", async () => {
  await addVerifiedDomain(program.call, scene.dns, "shop.test", { hasReturnPath: true });
  const { id, mailFrom, text } = await delivered("left@example.test", { from_email: "orders@shop.test" });
  expect(mailFrom).toMatch(/@bounce\.shop\.test$/);
  expect(text.replace(/\r\n\s+/g, " ")).toMatch(
    / h=[^;]*: CFBL-Address: CFBL-Feedback-ID: X-Posthaste-Message/,
  );
  expect(await sendIn(inboundPort, mailFrom, deliveryReport("left@example.test"))).toMatch(/^250/);
  await scene.messageWhen("bounced", id);
});

test("a mail to the List-Unsubscribe address of a campaign unsubscribes the recipient", async () => {
  const post = async (path: string, body?: object) => (await program.call("POST", path, body)).body.data;
  const list = (await post("/mailing-lists", { name: "News" })).id;
  await post(`/mailing-lists/${list}/subscribers`, { email: "reader@example.test" });
  const { id } = await post("/campaigns", {
    name: "June",
    subject: "News",
    from_email: "news@shop.test",
    mailing_list_id: list,
    html_content: "<p>News</p>",
  });
  await post(`/campaigns/${id}/send`);
  const received = await eventually("the mail", async () =>
    mx.messages.find(({ rcptTo }) => rcptTo === "reader@example.test"),
  );
  const header = received.raw.toString().replace(/\r\n\s+/g, " ");
  const [, url, token = ""] =
    /^List-Unsubscribe: <(https?:[^>]+)>, <mailto:u\+([\w-]+)@bounce\.mail\.posthaste\.test\?subject=unsubscribe>\r$/m.exec(
      header,
    ) ?? [];
  expect(url).toContain(token);
  expect(
    await sendIn(inboundPort, `u+${token}@${platform.BOUNCE_DOMAIN}`, "Subject: unsubscribe\n\n"),
  ).toMatch(/^250/);
  await allProcessed();
  const { body } = await program.call("GET", `/mailing-lists/${list}/subscribers?status=unsubscribed`);
  expect(body.data.subscribers).toEqual([expect.objectContaining({ email: "reader@example.test" })]);
});

test("a report about the target of a forwarding recipient bounces the message without a suppression", async () => {
  const { id, mailFrom } = await delivered("forwards@example.test");
  expect(await sendIn(inboundPort, mailFrom, deliveryReport("private@elsewhere.test"))).toMatch(/^250/);
  expect(await scene.messageWhen("bounced", id)).toMatchObject({
    error_message: expect.stringContaining("private@elsewhere.test"),
  });
  const { body } = await program.call("GET", "/bounces");
  expect(body.data.bounces).toContainEqual(
    expect.objectContaining({ message_id: id, email: "forwards@example.test", bounce_type: "soft" }),
  );
  const again = await scene.send("forwards@example.test");
  await scene.messageWhen("delivered", again);
});

test("forged reports change no message", async () => {
  const { id, mailFrom } = await delivered("safe@example.test");
  const [local = ""] = mailFrom.split("@");
  const altered = `${local.slice(0, -1)}${local.endsWith("0") ? "1" : "0"}`;
  const report = deliveryReport("safe@example.test");
  expect(await sendIn(inboundPort, `${altered}@${platform.BOUNCE_DOMAIN}`, report)).toMatch(/^550 5\.1\.1/);
  expect(await sendIn(inboundPort, "safe@example.test", report)).toMatch(/^550 5\.7\.1/);
  const strangers = deliveryReport("victim@example.test").replace(
    "Action:",
    "Action: failed\n\nFinal-Recipient: rfc822; other@example.test\nAction:",
  );
  expect(await sendIn(inboundPort, mailFrom, strangers)).toMatch(/^250/);
  expect(await sendIn(inboundPort, `fbl@${platform.BOUNCE_DOMAIN}`, complaintReport(altered))).toMatch(
    /^250/,
  );
  await allProcessed();
  await scene.messageWhen("delivered", id);
  const quarantined = JSON.parse(await program.command("mail", "list", "--status", "quarantined", "--json"));
  expect(quarantined).toEqual([expect.objectContaining({ kind: "complaint" })]);
  expect(await program.command("mail", "show", "--id", quarantined[0].id)).toContain("Feedback-Type: abuse");
});

test("a report that was answered with 250 survives a kill", async () => {
  const { id, mailFrom } = await delivered("killed@example.test");
  const answer = await sendIn(inboundPort, mailFrom, deliveryReport("killed@example.test"));
  expect(answer).toBe("250 2.0.0 Accepted");
  await program.kill("SIGKILL");
  await program.start();
  // Mails leased by the killed process would become due after a minute.
  await database.run(sql`update inbound_mails set due_at = now() where status = 'received'`);
  await scene.messageWhen("bounced", id);
});
