import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { nilId } from "#platform/ids.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, oneMail } = await trackingScene();
const { call, database, workspaceId } = service;

const old = "https://shop.example/old?utm=1";
const fresh = "https://shop.example/new?x=1&y=%20#top";

interface AuditEvent {
  readonly resource: { readonly id: string };
  readonly changes: readonly { readonly field: string }[];
}

const change = (id: string, index: unknown, target_url: unknown) =>
  call("PATCH", `/campaigns/${id}/links`, { index, target_url });

async function sent(urls: readonly string[] = [old]) {
  const mail = await oneMail({ urls, html: urls.map((url) => `<a href="${url}">Here</a>`).join("") });
  await database.run(sql`update campaigns set sent_at = created_at where id = ${mail.campaignId}`);
  return mail;
}

const leadsTo = async (address: string) => (await visit(address)).headers.get("location");
const targetsOf = async (messageId: string) =>
  (
    await database.rows<{ detail: string }>(sql`
      select detail from message_events where message_id = ${messageId} and type = 'clicked' order by id`)
  ).map(({ detail }) => detail);

test("clicks lead to the new target, and back again; each keeps its count and where it led", async () => {
  const { campaignId: id, links, messageId } = await sent(["https://other.example/", old]);
  expect(await leadsTo(links.tracked(1))).toBe(old);
  await expect.poll(() => targetsOf(messageId)).toEqual([old]);

  const { status, body } = await change(id, 1, fresh);
  expect([status, body.data]).toMatchObject([
    200,
    { index: 1, url: old, is_personal: false, target_url: fresh, click_count: 1, unique_click_count: 1 },
  ]);
  expect(Date.parse(body.data.target_changed_at)).toBe(service.clock.now().getTime());
  expect(await leadsTo(links.tracked(1))).toBe(fresh);
  expect(await leadsTo(links.tracked(0))).toBe("https://other.example/");
  await expect.poll(() => targetsOf(messageId)).toEqual([old, fresh, "https://other.example/"]);
  const listed = (await call("GET", `/campaigns/${id}/links`)).body.data;
  expect(
    listed.map((one: { target_url: string; click_count: number }) => [one.target_url, one.click_count]),
  ).toEqual([
    [null, 1],
    [fresh, 2],
  ]);

  for (const back of [null, old]) {
    await change(id, 1, fresh);
    expect((await change(id, 1, back)).body.data).toMatchObject({
      target_url: null,
      target_changed_at: null,
    });
    expect(await leadsTo(links.tracked(1))).toBe(old);
  }
});

test("the mail in the browser shows the new target", async () => {
  const { campaignId, links } = await sent();
  await change(campaignId, 0, fresh);
  const page = await (await visit(links.view)).text();
  expect(page).toContain('href="https://shop.example/new?x=1&amp;y=%20#top"');
  expect(page).not.toContain(old);
});

test("the audit log says which link led where, without queries", async () => {
  const { campaignId } = await sent();
  await change(campaignId, 0, fresh);
  await change(campaignId, 0, fresh);
  const { body } = await call("GET", "/audit-events?operation=updateCampaignLink");
  const events: AuditEvent[] = body.data.filter(({ resource }: AuditEvent) => resource.id === campaignId);
  expect(events.at(-1)).toMatchObject({
    resource: { kind: "campaigns", name: "Spring" },
    changes: [
      { field: "index", before: null, after: 0 },
      { field: "target_url", before: "https://shop.example/old?…", after: "https://shop.example/new?…" },
    ],
  });
  expect(
    events.slice(0, -1).filter(({ changes }) => changes.some(({ field }) => field === "target_url")),
  ).toEqual([]);
});

test("a target that a click cannot lead to is refused, and nothing changes", async () => {
  const { campaignId: id, links } = await sent();
  const addresses = [
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://shop.example/",
    "//evil.example",
    "shop.example",
    "",
    " ",
    "http://",
    "https://{{ first_name }}.example/",
    "https://shop.example/{% if a %}",
    `https://shop.example/${"a".repeat(2_000)}`,
    ["https://shop.example/"],
    { url: "https://shop.example/" },
    7,
    undefined,
  ];
  for (const address of addresses) {
    const { status, body } = await change(id, 0, address);
    expect([address, status, body.code, body.details?.[0]?.field]).toEqual([
      address,
      400,
      "VALIDATION_ERROR",
      "target_url",
    ]);
  }
  for (const index of [-1, 0.5, "0", null, 32_768, 1e300]) {
    expect([index, (await change(id, index, fresh)).status]).toEqual([index, 400]);
  }
  expect(await leadsTo(links.tracked(0))).toBe(old);
});

test("control characters of a target cannot leave its Location header", async () => {
  const { campaignId: id, links } = await sent();
  const { status, body } = await change(id, 0, "https://shop.example/\u0007\r\nSet-Cookie: a=1");
  expect(status).toBe(200);
  const answer = await visit(links.tracked(0));
  expect(answer.headers.get("location")).toBe(body.data.target_url);
  expect([body.data.target_url, answer.headers.get("set-cookie")]).toEqual([
    expect.stringMatching(/^https:\/\/shop\.example\/[!-~]+$/),
    null,
  ]);
});

test("links with merge tags, links that are not tracked and campaigns that have not been sent are refused", async () => {
  const personal = "https://shop.example/?for={{ email }}";
  const { campaignId: id, links } = await sent([personal]);
  const { status, body } = await change(id, 0, fresh);
  expect([status, body.code, body.error]).toEqual([409, "CONFLICT", expect.stringContaining("merge tags")]);
  expect(await leadsTo(links.tracked(0, "https://shop.example/?for=ada", true))).toBe(
    "https://shop.example/?for=ada",
  );
  expect((await change(id, 1, fresh)).status).toBe(404);
  expect((await change(nilId, 0, fresh)).status).toBe(404);
  const draft = await newCampaign(database, workspaceId, null);
  expect((await change(draft, 0, fresh)).body).toMatchObject({
    code: "CONFLICT",
    error: expect.stringContaining("change the link in its content"),
  });
});

test("a key that may write and not send cannot change where sent mail leads", async () => {
  const { campaignId } = await sent();
  const key = await service.newKey(["campaigns:read", "campaigns:write"]);
  const path = `/campaigns/${campaignId}/links`;
  const { status, body } = await call("PATCH", path, { index: 0, target_url: fresh }, { key });
  expect([status, body.required_scopes]).toEqual([403, ["campaigns:send"]]);
});
