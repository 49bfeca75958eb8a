/** A campaign in the whole program: each intended recipient gets it once, no other address does, and reports agree. */
import { Resolver } from "node:dns/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { authenticate } from "mailauth";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type ReceivedMessage, startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene, platform } from "#test/support/scene.ts";

const mx = await startFakeMx({ slowMs: 150 });
const folder = await mkdtemp(join(tmpdir(), "posthaste-lanes-"));
const lanes = join(folder, "lanes.json");
await writeFile(
  lanes,
  JSON.stringify({ lanes: [{ name: "narrow", mx_suffixes: ["narrow.test"], connections: 2 }] }),
);
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port), LANES_FILE: lanes, PUBLIC_URL: "https://post.test" },
  zone: {
    ...mailDomain("example.test"),
    ...mailDomain("other.test"),
    ...mailDomain("narrow.test"),
    [platform.PLATFORM_SPF_DOMAIN]: { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
    [platform.BOUNCE_DOMAIN]: { TXT: [`v=spf1 include:${platform.PLATFORM_SPF_DOMAIN} -all`] },
  },
});
const { program, dns } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
  await rm(folder, { recursive: true });
});

const post = async (path: string, body?: object) => {
  const answer = await program.call("POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
};
const get = async (path: string) => (await program.call("GET", path)).body.data;
const campaignWhen = (id: string, status: string) =>
  eventually(`campaign ${id} to be ${status}`, async () => {
    const campaign = await get(`/campaigns/${id}`);
    return campaign.status === status && campaign;
  });
const newList = async (
  people: readonly { readonly email: string; readonly first_name?: string; readonly status?: string }[],
): Promise<string> => {
  const { id } = await post("/mailing-lists", { name: "News" });
  for (const { status, ...person } of people) {
    const { subscriber_id } = await post(`/mailing-lists/${id}/subscribers`, person);
    if (status) await program.call("PUT", `/mailing-lists/${id}/subscribers/${subscriber_id}`, { status });
  }
  return id;
};
const mailTo = (to: string): ReceivedMessage[] => mx.messages.filter(({ rcptTo }) => rcptTo === to);

const html = `<html><body><p>Hello {{ first_name | default: "there" }}, see <a href="https://shop.test/sale?a=1&amp;b=2">the sale</a></p></body></html>`;
const draft = (list: string, change: object = {}) => ({
  name: "June",
  subject: "Offers for {{ first_name | default: 'you' }}",
  from_email: "news@shop.test",
  from_name: "Shop",
  reply_to: "ask@shop.test",
  mailing_list_id: list,
  html_content: html,
  ...change,
});

beforeAll(() => addVerifiedDomain(program.call, dns, "shop.test"));

test("a campaign reaches every active member once, signed, tracked and with an unsubscribe link, and reports count it", async () => {
  const list = await newList([
    { email: "ada@example.test", first_name: "Ada" },
    { email: "bob@other.test" },
    { email: "unknown@example.test" },
    { email: "left@example.test", status: "unsubscribed" },
    { email: "shut@example.test" },
  ]);
  const { id: suppressions } = await post("/suppression-lists", { name: "Never" });
  await post(`/suppression-lists/${suppressions}/entries`, { entries: "shut@example.test" });
  const { id } = await post("/campaigns", draft(list));
  await post(`/campaigns/${id}/send`);
  const campaign = await campaignWhen(id, "sent");
  expect(campaign).toMatchObject({
    total_recipients: 3,
    excluded: { suppressed: 1, unsubscribed: 1 },
    sent_count: 3,
    delivered_count: 2,
    bounce_count: 1,
    failed_count: 0,
  });
  expect(mx.received).toBe(2);

  const [received] = mailTo("ada@example.test");
  const raw = received?.raw ?? Buffer.alloc(0);
  const mail = await PostalMime.parse(raw);
  expect(mail.subject).toBe("Offers for Ada");
  expect(mail.replyTo).toMatchObject([{ address: "ask@shop.test" }]);
  expect(mail.html).toContain("Hello Ada");
  expect(mail.text).toContain("Hello Ada");
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
  expect(header("list-unsubscribe")).toMatch(/^<https:\/\/post\.test\/u\/[\w-]{56}>$/);
  expect(header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
  expect(header("list-id")).toBe(`<${list}.lists.shop.test>`);
  expect(header("feedback-id")).toMatch(/^[0-9a-f]{8}:[0-9a-f]{8}:campaign:posthaste$/);
  const unsubscribe = header("list-unsubscribe")?.slice(1, -1) ?? "";
  expect(mail.html).toContain(unsubscribe);
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  const { dkim } = await authenticate(raw, {
    ip: "127.0.0.1",
    helo: platform.MAIL_HOSTNAME,
    mta: "mx.example.test",
    sender: received?.mailFrom ?? "",
    resolver: (name, type) => resolver.resolve(name, type) as Promise<string[][]>,
  });
  expect(dkim.results[0]?.status.result).toBe("pass");
  expect(dkim.results[0]?.signingHeaders?.keys?.toLowerCase()).toMatch(
    /list-unsubscribe.*list-unsubscribe-post|list-unsubscribe-post.*list-unsubscribe/,
  );

  // Ada clicks a link and unsubscribes.
  const local = (url: string) => program.url.replace("/api/v1", "") + new URL(url).pathname;
  const click = /https:\/\/post\.test\/c\/[\w-]+\/0/.exec(mail.html ?? "")?.[0] ?? "";
  const browser = { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
  const followed = await fetch(local(click), { redirect: "manual", headers: browser });
  expect([followed.status, followed.headers.get("location")]).toEqual([
    302,
    "https://shop.test/sale?a=1&b=2",
  ]);
  await fetch(local(unsubscribe), {
    method: "POST",
    body: "List-Unsubscribe=One-Click",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  const after = await eventually("the click to be counted", async () => {
    const now = await get(`/campaigns/${id}`);
    return now.click_count === 1 && now;
  });
  expect(after).toMatchObject({ unique_click_count: 1, click_rate: 0.5, unsubscribe_count: 1 });
  expect(await get(`/campaigns/${id}/links`)).toMatchObject([
    { index: 0, url: "https://shop.test/sale?a=1&b=2", click_count: 1, unique_click_count: 1 },
  ]);
  const feed = await get(`/campaigns/${id}/recent-activity`);
  expect(feed.activities.map(({ type }: { type: string }) => type).sort()).toEqual(
    ["sent", "sent", "bounced", "clicked", "unsubscribed"].sort(),
  );
  expect(feed.pagination.total).toBe(5);
  expect((await get(`/campaigns/${id}/smtp-domain-stats`)).stats).toEqual([
    {
      domain: "example.test",
      total_messages: 2,
      percent_total: 66.67,
      success: 1,
      bounced: 1,
      failure: 0,
      still_trying: 0,
    },
    {
      domain: "other.test",
      total_messages: 1,
      percent_total: 33.33,
      success: 1,
      bounced: 0,
      failure: 0,
      still_trying: 0,
    },
  ]);
  const bounced = await get(`/campaigns/${id}/messages?status=bounced`);
  expect(bounced).toMatchObject({
    messages: [{ localpart: "unknown", status: "bounced" }],
    pagination: { total: 1 },
  });
  expect((await get(`/campaigns/${id}/messages?email=BOB`)).messages).toMatchObject([{ localpart: "bob" }]);
  expect((await get(`/campaigns/${id}/activity`)).at(-1)).toMatchObject({
    sent: 3,
    clicks: 1,
    unsubscribes: 1,
  });

  const { subscribers } = await get(`/mailing-lists/${list}/subscribers?search=ada`);
  const ada = await get(`/subscribers/${subscribers[0].subscriber_id}`);
  expect(ada.stats).toMatchObject({ sent: 1, delivered: 1, clicks: 1, unsubscribed: 1 });
  expect(ada.recent_activity.map(({ type }: { type: string }) => type).sort()).toEqual([
    "clicked",
    "sent",
    "unsubscribed",
  ]);
  const [news] = await get("/mailing-lists/stats");
  expect(news).toMatchObject({
    last_campaign: { id, click_rate: 0.5 },
    bounce_rate: 1 / 3,
    engagement_rate: 0.5,
  });

  // The next campaign to this list does not reach her.
  const { id: next } = await post("/campaigns", draft(list));
  await post(`/campaigns/${next}/send`);
  expect(await campaignWhen(next, "sent")).toMatchObject({ total_recipients: 1 });
  expect(mailTo("ada@example.test")).toHaveLength(1);
});

test("a campaign becomes sent while one of its messages is deferred", async () => {
  const { id } = await post("/campaigns", draft(await newList([{ email: "greylist@example.test" }])));
  await post(`/campaigns/${id}/send`);
  expect(await campaignWhen(id, "sent")).toMatchObject({ sent_count: 1, delivered_count: 0 });
  const { messages } = await get(`/campaigns/${id}/messages?status=deferred`);
  expect(messages).toMatchObject([{ localpart: "greylist", attempts: 1 }]);
});

test("a pause takes effect within two seconds, and after resume people who unsubscribed meanwhile get no mail", async () => {
  const people = Array.from({ length: 60 }, (_, at) => ({ email: `slow${at}@narrow.test` }));
  const list = await newList(people);
  const { id } = await post("/campaigns", draft(list));
  const isOurs = ({ rcptTo }: ReceivedMessage) => rcptTo.endsWith("@narrow.test");
  const received = () => mx.messages.filter(isOurs);
  const started = () => mx.commands.filter((line) => /^RCPT.*@narrow\.test/.test(line)).length;
  await post(`/campaigns/${id}/send`);
  await eventually("some to be sent", async () => received().length >= 5);
  await post(`/campaigns/${id}/pause`);
  await delay(2_000);
  const atPause = started();
  expect(atPause).toBeLessThan(people.length);
  await delay(1_500);
  expect(started()).toBe(atPause);

  const reached = new Set(received().map(({ rcptTo }) => rcptTo));
  const left = people.find(({ email }) => !reached.has(email))?.email ?? "";
  const { subscribers } = await get(`/mailing-lists/${list}/subscribers?search=${encodeURIComponent(left)}`);
  await program.call("PUT", `/mailing-lists/${list}/subscribers/${subscribers[0].subscriber_id}`, {
    status: "unsubscribed",
  });
  await post(`/campaigns/${id}/resume`);
  expect(await campaignWhen(id, "sent")).toMatchObject({ delivered_count: 59, suppressed_count: 1 });
  expect(new Set(received().map(({ rcptTo }) => rcptTo)).size).toBe(59);
  expect(received()).toHaveLength(59);
});
