import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { none, trackingScene, visit } from "../../test/support/tracking-visits.ts";

const { service, oneMail, countersOf } = await trackingScene();
const { database } = service;

const html =
  '<p>Dear {{ email }}</p><a href="https://shop.example/?for={{ email }}">Shop</a><script>alert(1)</script>';

test("is the person's own, in a sandbox, and nothing of it is tracked", async () => {
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

test("of a mail that is text is a page of it, escaped", async () => {
  const { links } = await oneMail({ text: "Dear {{ email }}\n<script>" });
  const page = await (await visit(links.view)).text();
  expect(page).toContain("&lt;script&gt;");
});

test("is gone with its campaign", async () => {
  const { links, campaignId } = await oneMail({ html });
  await database.run(sql`delete from campaigns where id = ${campaignId}`);
  expect((await visit(links.view)).status).toBe(404);
  expect((await visit(links.view.slice(0, -1))).status).toBe(404);
});

test("says where a link with merge tags leads for this person", async () => {
  const { links, email } = await oneMail({ html, urls: ["https://shop.example/?for={{ email }}"] });
  const answer = await visit(links.tracked(0));
  expect(answer.headers.get("location")).toBe(`https://shop.example/?for=${encodeURIComponent(email)}`);
});
