/** The spam score of received mail, and the authentication of its sender. */
import { generateKeyPairSync } from "node:crypto";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { dkimRecordValue, signDkim } from "#mail/dkim/dkim.ts";
import { type HeaderField, renderMessage } from "#mail/message/encode-header.ts";
import { eventually } from "#test/support/eventually.ts";
import { sendIn, startReturns } from "#test/support/returns.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { SECRET_KEY } from "#test/support/service.ts";
import { authenticate } from "./authenticate.ts";
import { createSpamScan } from "./scan-spam.ts";

/** What the scanner does in the current test. */
let play = async (_peer: Peer): Promise<void> => {};
const scanner = await startScriptedPeer((peer) => play(peer));
const { service, port } = await startReturns(undefined, [SECRET_KEY], {
  SPAMD_URL: `spamd://127.0.0.1:${scanner.port}`,
});
const { database: db, call, dns } = service;

let heard = "";
const scores =
  (score: number) =>
  async ({ hear, say, socket }: Peer) => {
    heard = await hear("the end");
    say(`SPAMD/1.1 0 EX_OK\r\nSpam: ${score >= 5 ? "True" : "False"} ; ${score} / 5.0\r\n\r\n`);
    socket.end();
  };

beforeEach(async () => {
  play = scores(0);
  dns.zone = {};
  await db.run(sql`truncate inbound_routes, received_emails, received_digests`);
});

const route = (settings: object = {}) =>
  call("POST", "/inbound-routes", { pattern: "support@shop.test", ...settings });
let mails = 0;
const send = (raw: string | Buffer, from = "ada@sender.test") => sendIn(port, "support@shop.test", raw, from);
const mail = () => `From: ada@sender.test\nMessage-ID: <${++mails}@sender.test>\nSubject: Hi\n\nthe end`;

const newest = () =>
  eventually("the mail to be parsed", async () => {
    const [row] = (await call("GET", "/received-emails")).body.data.received_emails;
    if (row === undefined || row.status === "received") return undefined;
    return (await call("GET", `/received-emails/${row.id}`)).body.data;
  });

describe("spam", () => {
  test("is marked from the scanner's threshold on, or from that of the route", async () => {
    const { id } = (await route()).body.data;
    play = scores(4.9);
    await send(mail());
    expect(await newest()).toMatchObject({ spam_score: 4.9, is_spam: false });
    expect(heard).toMatch(
      /^REPORT .*\r\n\r\nReceived: from mx\.test \(\[127\.0\.0\.1\]\)\r\n\tby mail\.posthaste\.test /s,
    );
    await call("PATCH", `/inbound-routes/${id}`, { spam_threshold: 4.5 });
    await send(mail());
    expect(await newest()).toMatchObject({ spam_score: 4.9, is_spam: true });
    const spam = (await call("GET", "/received-emails?is_spam=true")).body.data.received_emails;
    expect(spam).toHaveLength(1);
  });

  test("is asked for with a Received field that the client's name cannot end", async () => {
    const scan = createSpamScan({ host: "127.0.0.1", port: scanner.port }, "mail.posthaste.test");
    const helo = "mx (x)\r\nX-Spam: no [::1]";
    await scan(service.workspaceId, Buffer.from(mail()), { ip: "192.0.2.1", helo });
    expect(heard).toContain(
      "\r\n\r\nReceived: from mx??x???X-Spam:?no?[::1] ([192.0.2.1])\r\n\tby mail.posthaste.test ",
    );
  });

  test("is refused at the end of the message where the route says so, and nothing of it is stored", async () => {
    await route({ spam_action: "reject" });
    play = scores(5);
    expect(await send(mail())).toBe("550 5.7.1 The message was refused as spam");
    expect(await db.rows(sql`select from received_emails union all select from received_digests`)).toEqual(
      [],
    );
    play = scores(4);
    expect(await send(mail())).toMatch(/^250/);
  });

  test("is not known when the scanner fails, or the mail is large: such mail is accepted without a score", async () => {
    await route({ spam_action: "reject", spam_threshold: -100 });
    play = async ({ socket }) => void socket.destroy();
    expect(await send(mail())).toMatch(/^250/);
    expect(await newest()).toMatchObject({ spam_score: null, is_spam: false });
    play = scores(100);
    expect(await send(`${mail()}${"x".repeat(60)}\n`.padEnd(1_100_000, "y\n"))).toMatch(/^250/);
  });
});

describe("the authentication of the sender", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signed = async (change = (message: Buffer) => message) => {
    const headers: HeaderField[] = [
      ["From", "ada@sender.test"],
      ["To", "support@shop.test"],
      ["Subject", "Signed"],
      ["Date", "Sat, 21 Nov 2026 08:00:00 +0000"],
      ["Message-ID", `<${++mails}@sender.test>`],
    ];
    const body = Buffer.from("the end\r\n");
    const signature = await signDkim({
      headers,
      body: [body],
      domain: "sender.test",
      selector: "s1",
      privateKey,
      timestamp: new Date(),
    });
    return change(renderMessage([["DKIM-Signature", signature], ...headers], [body]));
  };
  const zone = {
    "s1._domainkey.sender.test": { TXT: [dkimRecordValue(publicKey)] },
    "sender.test": { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
    "_dmarc.sender.test": { TXT: ["v=DMARC1; p=reject"] },
  };

  beforeEach(() => route());

  test("passes with SPF and a signature of the domain in From", async () => {
    dns.zone = zone;
    await send(await signed());
    expect((await newest()).authentication).toEqual({
      spf: "pass",
      spf_domain: "sender.test",
      dkim: [{ domain: "sender.test", selector: "s1", result: "pass" }],
      dmarc: "pass",
      dmarc_policy: "reject",
    });
  });

  test("does not pass by a signature of the beginning of the body: anyone can append the rest", async () => {
    dns.zone = { ...zone, "sender.test": { TXT: ["v=spf1 -all"] } };
    const message = "From: ada@sender.test\r\nSubject: Signed\r\n\r\nthe end\r\n";
    const signer = {
      canonicalization: "relaxed/relaxed",
      signingDomain: "sender.test",
      selector: "s1",
      privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      maxBodyLength: "the end\r\n".length,
    };
    const { signatures } = await dkimSign(message, { ...signer, signatureData: [signer] });
    await send(Buffer.from(signatures + message));
    expect((await newest()).authentication).toMatchObject({ dkim: [{ result: "pass" }], dmarc: "pass" });
    await send(Buffer.from(`${signatures}${message}Pay here\r\n`));
    expect((await newest()).authentication).toMatchObject({ dkim: [{ result: "policy" }], dmarc: "fail" });
  });

  test("fails for a changed message from another server", async () => {
    dns.zone = { ...zone, "sender.test": { TXT: ["v=spf1 -all"] } };
    await send(await signed((message) => Buffer.from(message.toString().replace("the end", "not the end"))));
    expect((await newest()).authentication).toMatchObject({
      spf: "fail",
      dkim: [{ result: expect.stringMatching(/fail|neutral/) }],
      dmarc: "fail",
      dmarc_policy: "reject",
    });
  });

  test("is unknown while DNS fails, and none for a domain without records", async () => {
    dns.zone = { ...zone, "s1._domainkey.sender.test": "servfail", "sender.test": "servfail" };
    await send(await signed());
    expect((await newest()).authentication).toMatchObject({
      spf: "temperror",
      dkim: [{ result: "temperror" }],
    });
    dns.zone = {};
    await send(mail());
    expect((await newest()).authentication).toEqual({
      spf: "none",
      spf_domain: "sender.test",
      dkim: [],
      dmarc: "none",
      dmarc_policy: null,
    });
  });

  test("does not pass for another domain in From than the one that is shown", async () => {
    dns.zone = zone;
    const resolver = createResolver({ servers: [dns.address], timeoutMs: 1_000, tries: 1 });
    const client = { remote_ip: "127.0.0.1", helo: "mx.test", mail_from: "ada@sender.test" };
    const verified = { signatures: [], headerFrom: ["ada@sender.test"], fromFields: 1 };
    const dmarcFor = async (from: string | null) =>
      (await authenticate(resolver, "mail.posthaste.test", client, verified, from)).dmarc;
    expect(await dmarcFor("Ada@SENDER.test")).toBe("pass");
    expect(await dmarcFor("boss@shop.test")).toBe("permerror");
    expect(await dmarcFor(null)).toBe("permerror");
  });

  test("never passes for two From fields, and does not verify a flood of signatures", async () => {
    dns.zone = zone;
    const message = (await signed()).toString();
    await send(Buffer.from(`From: boss@shop.test\r\n${message}`));
    expect((await newest()).authentication.dmarc).not.toBe("pass");
    const flood = "DKIM-Signature: v=1; a=rsa-sha256; d=sender.test; s=s1; h=from; l=1; bh=x; b=y\r\n".repeat(
      1_000,
    );
    await send(Buffer.from(flood + (await signed()).toString()));
    expect((await newest()).authentication.dkim).toEqual([]);
  });
});
