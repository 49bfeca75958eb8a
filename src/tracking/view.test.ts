import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { none, trackingScene, visit } from "#test/support/tracking-visits.ts";

const { service, oneMail, countersOf } = await trackingScene();
const { database } = service;

const html =
  '<p>Dear {{ email }}</p><a href="https://shop.example/?for={{ email }}">Shop</a><script>alert(1)</script>';

test("shows the recipient's own mail, in a sandbox, and is not tracked", async () => {
  const { links, campaignId, email } = await oneMail({ html });
  const answer = await visit(links.view);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-security-policy")).toMatch(
    /^sandbox(?!.*(?:allow-scripts|allow-same-origin))/,
  );
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = await answer.text();
  expect(page).toContain(`Dear ${email}`);
  expect(page).toContain(`https://shop.example/?for=${encodeURIComponent(email)}`);
  expect(page).toContain("/u/");
  expect(page).not.toMatch(/\/[oc]\//);
  await expect.poll(() => countersOf(campaignId)).toEqual(none);
});

const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const part = (content_id: string, content_type: string, content = gif) => ({
  filename: "part",
  content: content.toString("base64"),
  content_type,
  disposition: "inline" as const,
  content_id,
});

test("shows the images attached to the mail, at addresses below the page", async () => {
  const { links, campaignId } = await oneMail({
    html: '<img src="cid:a/b%2520@acme"><img src="cid:drawing">',
    attachments: [part("a/b%20@acme", "image/gif"), part("drawing", "image/svg+xml", Buffer.from("<svg/>"))],
  });
  const answer = await visit(links.view);
  expect(answer.headers.get("content-security-policy")).toMatch(/img-src https: http:/);
  const sources = [...(await answer.text()).matchAll(/<img src="([^"]*)"/g)].map(([, source = ""]) => source);
  const pictures = await Promise.all(sources.map((source) => visit(new URL(source, links.view).href)));
  expect(pictures.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual([
    [200, "image/gif"],
    [200, "image/svg+xml"],
  ]);
  for (const { headers } of pictures) {
    expect(headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
  const [first] = await Promise.all(pictures.map((picture) => picture.bytes()));
  expect(gif.equals(first ?? Buffer.alloc(0))).toBe(true);
  await expect.poll(() => countersOf(campaignId)).toEqual(none);
});

test("serves no other attachment than its own images", async () => {
  const { links } = await oneMail({
    html,
    attachments: [part("page", "text/html"), part("logo", "image/gif")],
  });
  const other = await oneMail({ html });
  const forged = `${links.view.slice(0, -1)}${links.view.endsWith("A") ? "Q" : "A"}`;
  expect((await visit(`${links.view}/logo`)).status).toBe(200);
  for (const address of [
    `${links.view}/page`,
    `${links.view}/x`,
    `${other.links.view}/logo`,
    `${forged}/logo`,
  ]) {
    expect((await visit(address)).status).toBe(404);
  }
});

test("shows a text mail as a page, escaped", async () => {
  const { links } = await oneMail({ text: "Dear {{ email }}\n<script>" });
  const page = await (await visit(links.view)).text();
  expect(page).toContain("&lt;script&gt;");
});

test("shows the addresses in a text mail as links", async () => {
  const text =
    "See https://shop.example/?a=1&b=2 and {{ view_in_browser_url }}\nLeave: {{ unsubscribe_url }}";
  const { links } = await oneMail({ text });
  const page = await (await visit(links.view)).text();
  for (const address of ["https://shop.example/?a=1&amp;b=2", links.view, links.unsubscribe]) {
    expect(page).toContain(`<a href="${address}">${address}</a>`);
  }
});

test("shows the addresses as the mail shows them", async () => {
  const { links } = await oneMail({
    html: '<p>{{ unsubscribe_url }}</p><a href="{{ view_in_browser_url }}">x</a>',
  });
  const page = await (await visit(links.view)).text();
  expect(page).toBe(`<p>${links.unsubscribe}</p><a href="${links.view}">x</a>`);
});

test("has links at the campaign's tracking domain, like the mail", async () => {
  const { links, campaignId } = await oneMail({ html: "{{ unsubscribe_url }}" });
  const id = newId();
  await database.run(sql`
    insert into tracking_domains (workspace_id, id, domain, is_verified, created_at)
    values (${service.workspaceId}, ${id}, 'links.sender.test', true, now())`);
  await database.run(sql`update campaigns set url_domain_id = ${id} where id = ${campaignId}`);
  expect(await (await visit(links.view)).text()).toBe(
    links.unsubscribe.replace(service.url, "https://links.sender.test"),
  );
});

test("still works after its campaign was deleted, with its images, and is 404 after the message was deleted", async () => {
  const { links, campaignId, email, messageId } = await oneMail({
    html,
    attachments: [part("logo", "image/gif")],
    urls: ["https://shop.example/?for={{ email }}"],
  });
  expect((await service.call("DELETE", `/campaigns/${campaignId}`)).status).toBe(200);
  expect(await (await visit(links.view)).text()).toContain(`Dear ${email}`);
  expect((await visit(`${links.view}/logo`)).status).toBe(200);
  const target = `https://shop.example/?for=${encodeURIComponent(email)}`;
  const click = links.tracked(0, target, true);
  expect((await visit(click)).headers.get("location")).toBe(target);
  await database.run(sql`delete from messages where id = ${messageId}`);
  for (const address of [links.view, `${links.view}/logo`, click]) {
    expect([address, (await visit(address)).status]).toEqual([address, 404]);
  }
});
