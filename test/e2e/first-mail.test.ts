import { spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { fileURLToPath } from "node:url";
import { authenticate } from "mailauth";
import PostalMime from "postal-mime";
import { afterAll, describe, expect, test } from "vitest";
import { type ReceivedMessage, startFakeMx } from "#test/support/fake-mx.ts";
import { publish } from "#test/support/publish.ts";
import { mailDomain, openScene, platform } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port) },
  zone: {
    ...mailDomain("example.test"),
    // The SPF record that the operator publishes for the platform.
    [platform.PLATFORM_SPF_DOMAIN]: { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
    [platform.BOUNCE_DOMAIN]: { TXT: [`v=spf1 include:${platform.PLATFORM_SPF_DOMAIN} -all`] },
  },
});
const { program, dns } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const invoice = Buffer.from("%PDF-1.7 not really");
const keyHost = "ph1._domainkey.shop.test";

/** Sends the first message with an API key only: adds a domain, publishes its records, verifies it, sends. */
async function sendFirstMail(): Promise<ReceivedMessage> {
  const added = await program.call("POST", "/sending-domains", { domain: "shop.test" });
  const path = `/sending-domains/${added.body.data.id}`;
  await program.call("PATCH", `${path}/custom-return-path`, { enabled: true });
  const status = await program.call("GET", `${path}/dns-status`);
  publish(dns, status.body.data.dns.records);
  const verified = await program.call("POST", `${path}/verify`);
  expect(verified.body.data).toMatchObject({
    verified: true,
    spf_verified: true,
    dkim_verified: true,
    dmarc_verified: true,
    return_path_verified: true,
  });
  const id = await scene.send("Ada <ada@example.test>", {
    from_email: "orders@shop.test",
    from_name: "The Shöp",
    subject: "Your order ✓",
    body: "<p>It is <b>on its way</b>, Ada.</p>",
    attachments: [
      { filename: "invoice.pdf", content: invoice.toString("base64"), content_type: "application/pdf" },
    ],
  });
  await scene.messageWhen("delivered", id);
  const [message] = mx.messages;
  if (message === undefined) throw new Error("delivered, but not received");
  return message;
}

const received = await sendFirstMail();

test("a message is received exactly once, with a return path on the sender's domain", () => {
  expect(mx.received).toBe(1);
  expect(received.rcptTo).toBe("ada@example.test");
  expect(received.mailFrom).toMatch(/^b\.[a-z0-9]+@bounce\.shop\.test$/);
});

test("a received message has the sender's subject, text, HTML and attachment", async () => {
  const { subject, from, to, html, text, attachments } = await PostalMime.parse(received.raw);
  expect(subject).toBe("Your order ✓");
  expect(from).toEqual({ name: "The Shöp", address: "orders@shop.test" });
  expect(to).toEqual([{ name: "Ada", address: "ada@example.test" }]);
  expect(html).toContain("<b>on its way</b>");
  expect(text).toContain("on its way");
  expect(attachments).toHaveLength(1);
  expect(attachments[0]).toMatchObject({ filename: "invoice.pdf", mimeType: "application/pdf" });
  expect(Buffer.from(attachments[0]?.content as ArrayBuffer)).toEqual(invoice);
});

describe("a receiver finds", () => {
  test("DKIM and SPF valid and aligned with the From domain, so that DMARC passes (mailauth)", async () => {
    const resolver = new Resolver();
    resolver.setServers([dns.address]);
    const { dkim, spf, dmarc } = await authenticate(received.raw, {
      ip: "127.0.0.1",
      helo: platform.MAIL_HOSTNAME,
      sender: received.mailFrom,
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
    expect(spf).toMatchObject({ domain: "bounce.shop.test", status: { result: "pass" } });
    expect(dmarc).toMatchObject({
      status: { result: "pass" },
      alignment: { spf: { result: "bounce.shop.test" }, dkim: { result: "shop.test" } },
    });
  });

  const script = fileURLToPath(new URL("../support/verify-dkim.py", import.meta.url));
  const python = ["python3", "/usr/bin/python3"].find(
    (program) => spawnSync(program, ["-c", "import dkim"]).status === 0,
  );

  test.skipIf(python === undefined)("the signature valid, and invalid after a change (dkimpy)", () => {
    const entry = dns.zone[keyHost];
    const record = typeof entry === "object" && Array.isArray(entry.TXT) ? entry.TXT[0] : undefined;
    const verify = (message: Buffer) => {
      const { status, stdout } = spawnSync(python ?? "", [script, record ?? ""], { input: message });
      return { status, asked: stdout.toString().trim() };
    };
    expect(verify(received.raw)).toEqual({ status: 0, asked: keyHost });
    const changed = received.raw.toString("latin1").replace("Ada", "Bob");
    expect(verify(Buffer.from(changed, "latin1")).status).toBe(1);
  });
});
