/** Transactional mail of a workspace with and without open and click tracking. */
import { Resolver } from "node:dns/promises";
import { authenticate } from "mailauth";
import PostalMime from "postal-mime";
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";
import { visit } from "#test/support/tracking-visits.ts";

const PUBLIC_URL = "https://post.test";
const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port), PUBLIC_URL },
  zone: mailDomain("example.test"),
});
const { program, dns } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const target = "https://shop.example/orders/7?a=1&b=%20#top";
const body = `<html><body>\r\n<p>Your <a class=x href='${target.replace("&", "&amp;")}'>order</a>,
  <a data-no-track href="https://shop.example/pay">pay</a></p>\r\n</body></html>`;

const [workspace] = JSON.parse(await program.command("workspace", "list", "--json"));
const switchTracking = (word: "on" | "off") =>
  program.command("workspace", "set", "--workspace", workspace.id, "--track-transactional", word, "--json");

/** Sends a message and returns it as received. */
async function receive(to: string, email: Readonly<Record<string, unknown>> = {}) {
  const id = await scene.send(to, { body, ...email });
  await scene.messageWhen("delivered", id);
  const received = mx.messages.find(({ rcptTo }) => rcptTo === to);
  if (received === undefined) throw new Error("delivered, but not received");
  return { id, raw: received.raw, mail: await PostalMime.parse(received.raw) };
}

const timelineOf = async (id: string): Promise<{ type: string; detail: string | null }[]> =>
  (await program.call("GET", `/messages/${id}`)).body.data.timeline;

test("transactional mail is not tracked by default", async () => {
  const { raw, mail } = await receive("plain@example.test");
  expect(raw.toString()).not.toContain(PUBLIC_URL);
  expect(mail.html?.trim()).toBe(body.replaceAll(/\r?\n/g, "\n"));
});

test("with tracking on, links redirect to their targets, opens and clicks are recorded, and the signature is valid", async () => {
  expect(JSON.parse(await switchTracking("on"))).toMatchObject({ tracks_transactional: true });
  await addVerifiedDomain(program.call, dns, "shop.test");
  // Key records, with the workspace's settings, are cached for two seconds.
  const { id, raw, mail } = await eventually("a tracked mail", async () => {
    const address = `${crypto.randomUUID()}@example.test`;
    const received = await receive(address, { from_email: "orders@shop.test" });
    return received.mail.html?.includes(PUBLIC_URL) && received;
  });

  const html = mail.html ?? "";
  const link = /href='([^']+)'/.exec(html)?.[1] ?? "";
  const pixel = /<img src="([^"]+)"[^>]*>/.exec(html) ?? expect.fail("no pixel");
  const untouched = html.replace(link, target.replace("&", "&amp;")).replace(pixel[0], "");
  expect(untouched.trim()).toBe(body.replaceAll(/\r?\n/g, "\n"));
  expect(mail.text).toContain(target);
  expect(mail.text).not.toContain(PUBLIC_URL);
  expect(mail.headers.map(({ key }) => key)).not.toContain("list-unsubscribe");
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  const { dkim } = await authenticate(raw, {
    resolver: (name, type) => resolver.resolve(name, type) as Promise<string[][]>,
    disableArc: true,
    disableBimi: true,
  });
  expect(dkim.results.map(({ status }) => status.result)).toEqual(["pass"]);

  const here = (address: string) => address.replace(PUBLIC_URL, program.url);
  expect((await visit(here(pixel[1] ?? ""))).status).toBe(200);
  const answer = await visit(here(link));
  expect([answer.status, answer.headers.get("location")]).toEqual([302, target]);
  const events = await eventually("both events", async () => {
    const timeline = await timelineOf(id);
    return timeline.some(({ type }) => type === "clicked") && timeline;
  });
  expect(events.filter(({ type }) => type === "opened")).toHaveLength(1);
  expect(events.find(({ type }) => type === "clicked")).toMatchObject({ detail: target });
  const days = (await program.call("GET", "/stats/chart")).body.data;
  expect(days.at(-1)).toMatchObject({ opens: 1, clicks: 1 });
  expect(await program.command("doctor", "--counters")).toContain("agree");
});

test("a tracking URL that was changed does not redirect", async () => {
  const { mail } = await receive("changed@example.test");
  const link = (/href='([^']+)'/.exec(mail.html ?? "")?.[1] ?? "").replace(PUBLIC_URL, program.url);
  const [carried = ""] = link.split("/").slice(-1);
  const elsewhere = Buffer.concat([
    Buffer.from(carried, "base64url").subarray(0, 15),
    Buffer.from("https://evil.example/"),
  ]);
  const addresses = [
    link.replace(carried, elsewhere.toString("base64url")),
    link.replace(`/0/${carried}`, `/1/${carried}`),
    link.replace(`/${carried}`, ""),
  ];
  for (const address of addresses) expect((await visit(address)).status).toBe(404);
});

test("plain text mail has no tracking, and after tracking is turned off no mail has", async () => {
  const plain = await receive("text@example.test", { body: `See ${target}` });
  expect(plain.raw.toString()).not.toContain(PUBLIC_URL);
  await switchTracking("off");
  await eventually("a mail without tracking", async () => {
    const { mail } = await receive(`${crypto.randomUUID()}@example.test`);
    return !mail.html?.includes(PUBLIC_URL);
  });
});
