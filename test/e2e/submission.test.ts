/** Mail submitted over SMTP to the port of the real program. */
import { Resolver } from "node:dns/promises";
import { authenticate } from "mailauth";
import { createTransport } from "nodemailer";
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { openInbox } from "#test/support/inbox.ts";
import { isPostfixInstalled, startPostfix } from "#test/support/postfix.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene, platform, type Scene } from "#test/support/scene.ts";
import { openSmtp } from "#test/support/smtp-client.ts";
import { isSwaksInstalled, runSwaksExample } from "#test/support/swaks.ts";

const key = `efk_${"e2e0".repeat(10)}`;
const submissionPort = { SUBMISSION_PORT: "0" };

async function addDomain({ program, dns }: Scene, domain: string): Promise<void> {
  const verified = await addVerifiedDomain(program.call, dns, domain, { hasReturnPath: true });
  expect(verified).toMatchObject({ verified: true, dkim_verified: true });
}

function portOf({ program }: Scene): Promise<number> {
  return eventually(
    "the submission port",
    async () => program.logged("listening for SMTP submission").at(-1)?.port,
  );
}

/** A client as applications use it (nodemailer). */
async function clientOf(scene: Scene) {
  const port = await portOf(scene);
  const transport = createTransport({
    host: "127.0.0.1",
    port,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth: { user: "anything", pass: key },
  });
  return Object.assign(transport, { [Symbol.dispose]: () => transport.close() });
}

const idIn = (response: string) => /Queued as (\S+)/.exec(response)?.[1] ?? "";

const mx = await startFakeMx();
afterAll(() => mx.close());

test("a submitted message reaches the MX unchanged and signed by the sender's domain", async () => {
  await using scene = await openScene({
    env: { ...submissionPort, SMTP_PORT: String(mx.port) },
    zone: mailDomain("example.test"),
  });
  await addDomain(scene, "shop.test");
  using client = await clientOf(scene);
  const header = [
    "From: =?UTF-8?Q?The_Sh=C3=B6p?= <orders@shop.test>",
    "To: Ada <ada@example.test>",
    "Subject: =?UTF-8?B?WW91ciBvcmRlciDinJM=?=",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "MIME-Version: 1.0",
  ];
  const body = ".\r\n..\r\nGr\u00fc\u00dfe \t \r\n\ttab\r\nFrom here\r\n\r\n\r\n";
  const { response } = await client.sendMail({
    envelope: { from: "app@elsewhere.test", to: "ada@example.test" },
    raw: `${header.join("\r\n")}\r\n\r\n${body}`,
  });
  const message = await scene.messageWhen("delivered", idIn(response));
  expect(message).toMatchObject({
    source: "smtp",
    from_email: "orders@shop.test",
    subject: "Your order \u2713",
    to: "ada@example.test",
  });

  const [received] = mx.messages;
  const text = received?.raw.toString() ?? "";
  expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(body);
  for (const field of header) expect(text).toContain(`\r\n${field}\r\n`);
  expect(text).toMatch(/^Feedback-ID: tx:\w+:transactional:posthaste\r$/m);
  expect(text).toContain(`\r\nX-Posthaste-Message: ${received?.mailFrom.split("@")[0]}\r\n`);
  expect(text.match(/^Received: .*/gm)).toEqual([
    expect.stringMatching(/^Received: by mail\.posthaste\.test with ESMTPSA id/),
  ]);
  expect(text).not.toContain("127.0.0.1");
  expect(received?.mailFrom).toMatch(/^b\.[a-z0-9]+@bounce\.shop\.test$/);

  const resolver = new Resolver();
  resolver.setServers([scene.dns.address]);
  const { dkim, dmarc } = await authenticate(received?.raw ?? "", {
    ip: "127.0.0.1",
    helo: platform.MAIL_HOSTNAME,
    sender: received?.mailFrom ?? "",
    resolver: (name, type) => resolver.resolve(name, type) as Promise<string[][]>,
    disableArc: true,
    disableBimi: true,
    strict: true,
  });
  expect(dkim.results).toHaveLength(1);
  expect(dkim.results[0]).toMatchObject({
    signingDomain: "shop.test",
    status: { result: "pass", aligned: "shop.test" },
  });
  expect(dmarc).toMatchObject({ status: { result: "pass" } });
});

test("in capture mode a submitted mail is in the local inbox as one message for each recipient", async () => {
  await using scene = await openScene({ env: { ...submissionPort, MAIL_MODE: "capture" } });
  await addDomain(scene, "shop.test");
  using client = await clientOf(scene);
  const { response } = await client.sendMail({
    from: "orders@shop.test",
    to: ["ada@example.test", "grace@example.test"],
    subject: "Two of you",
    text: "plain",
    html: "<p>rich</p>",
    attachments: [{ filename: "a.txt", content: "attached" }],
  });
  const ids = response.replace(/^.*Queued as /, "").split(" ");
  expect(ids).toHaveLength(2);
  for (const id of ids) await scene.messageWhen("delivered", id);
  const inbox = await (await openInbox(scene.program.url, `/inbox/messages/${ids[1]}`)).json();
  expect(inbox).toMatchObject({
    text: "plain\n",
    html: "<p>rich</p>\n",
    attachments: [{ filename: "a.txt" }],
  });
  const { body } = await scene.program.call("GET", "/messages?source=smtp");
  expect(body.data.messages.map(({ localpart }: { localpart: string }) => localpart).sort()).toEqual([
    "ada",
    "grace",
  ]);
});

test.skipIf(!isPostfixInstalled)("Postfix submits a mail with many recipients", async () => {
  await using scene = await openScene({ env: { ...submissionPort, MAIL_MODE: "capture" } });
  await addDomain(scene, "shop.test");
  const port = await portOf(scene);
  await using postfix = await startPostfix("office.test", [], { port, password: key });
  const client = createTransport({ host: "127.0.0.1", port: postfix.port, ignoreTLS: true });
  const names = ["ada", "grace", "j\u00f6rg"];
  await client.sendMail({
    envelope: { from: "app@office.test", to: names.map((name) => `${name}@example.test`) },
    raw: "From: orders@shop.test\r\nSubject: Through Postfix\r\n\r\n.\r\nGr\u00fc\u00dfe\r\n",
  });
  client.close();
  const messages = await eventually("all messages", async () => {
    const { body } = await scene.program.call("GET", "/messages?source=smtp&status=delivered");
    return body.data.messages.length === names.length && body.data.messages;
  });
  expect(messages.map(({ localpart }: { localpart: string }) => localpart).sort()).toEqual(names);
  const source = await openInbox(scene.program.url, `/inbox/${messages[0].id}/source`);
  expect(await source.text()).toMatch(/\r\n\r\n\.\r\nGr\u00fc\u00dfe\r\n$/);
});

test.skipIf(!isSwaksInstalled)("swaks submits a message with the documented command", async () => {
  await using scene = await openScene({ env: { ...submissionPort, MAIL_MODE: "capture" } });
  await addDomain(scene, "example.org");
  const conversation = await runSwaksExample("submission.md", await portOf(scene), key);
  expect(conversation).toContain("TLS started");
  expect(conversation).toMatch(/<~ +235 /);
  await scene.messageWhen("delivered", idIn(conversation));
  const inbox = await openInbox(scene.program.url, `/inbox/messages/${idIn(conversation)}`);
  expect(await inbox.json()).toMatchObject({
    subject: "Your order",
    text: expect.stringContaining("It is on its way."),
  });
});

test("after SIGTERM a message in progress is finished, and idle connections get 421", async () => {
  await using scene = await openScene({ env: { ...submissionPort, MAIL_MODE: "capture" } });
  await addDomain(scene, "shop.test");
  const port = await portOf(scene);
  const open = async () => {
    const client = await openSmtp(port);
    await client.say("EHLO client.test");
    await client.startTls();
    await client.login(key);
    return client;
  };
  const [busy, idle] = await Promise.all([open(), open()]);
  await busy.say("MAIL FROM:<app@elsewhere.test>");
  await busy.say("RCPT TO:<ada@example.test>");
  await busy.say("DATA");
  busy.write("From: orders@shop.test\r\n\r\nHel");

  const ended = scene.program.kill("SIGTERM");
  expect(await idle.reply()).toMatch(/^421 4\.3\.2/);
  busy.write("lo\r\n.\r\n");
  const answer = await busy.reply();
  expect(answer).toMatch(/^250 /);
  expect(await busy.reply()).toMatch(/^421 4\.3\.2/);
  expect(await ended).toEqual([0, null]);
  expect(await scene.database.rows(sql`select id from messages`)).toEqual([{ id: idIn(answer) }]);
});
