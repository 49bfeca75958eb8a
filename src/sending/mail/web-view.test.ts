/** The links and the web view of a mail that was sent say what the mail said, whatever becomes of its recipient's data. */
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { advanceDueAutoresponders as advanceAutoresponders } from "#sending/autoresponders/advance.ts";
import { createAutoresponderMail } from "#sending/autoresponders/presend-check.ts";
import { advanceDueCampaigns as advanceCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { startService } from "#test/support/service.ts";
import { linkKey } from "#test/support/tracked-campaign.ts";
import { visit } from "#test/support/tracking-visits.ts";
import { mailLinks } from "#tracking/link-tokens.ts";
import { plans } from "#workspace/billing/plans.ts";
import { createCampaignMail } from "./campaign-presend-check.ts";

const service = await startService();
const { call, database: db, workspaceId, clock } = service;
await verifyShop(db, workspaceId);
const deps = {
  db,
  clock,
  log: createLog("silent"),
  linkBase: async () => service.url,
  linksOf: (mail: Parameters<typeof mailLinks>[0], base: string) => mailLinks(mail, base, linkKey),
};
const email = "ann@people.test";
const values = {
  code: "SPRING-111",
  note: 'Tom & Ann <3 "quotes" ü',
  items: ["red", "blue"],
  long: `${"long ".repeat(2_000)}end`,
  hidden: "secret-tier",
};

let list: string;

const ok = async (method: "POST" | "PUT" | "DELETE", path: string, body?: object) => {
  const answer = await call(method, path, body);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body.data;
};
const leased = async () => {
  const messages = await leaseMessages(db, leaseOrder({ priority: 1, limit: 250, bytes: 1e9 }));
  return messages[0] ?? expect.fail("nothing is due");
};
const join = () =>
  addPeople(db, workspaceId, list, [{ email, first_name: "Ann", last_name: "Lee", custom_fields: values }], {
    now: clock.now(),
  });

/** Sends a mail with this content to Ann; answers its finding. */
const ways = {
  campaign: async (html_content: string) => {
    await join();
    const { id } = await ok("POST", "/campaigns", {
      name: "June",
      subject: "Hi",
      from_email: "news@shop.test",
      mailing_list_id: list,
      html_content,
    });
    await ok("POST", `/campaigns/${id}/send`);
    await advanceCampaigns({ db, clock, plans }, new AbortController().signal, deps.log);
    return { examine: createCampaignMail(deps), path: `/campaigns/${id}` };
  },
  autoresponder: async (html_content: string) => {
    const { id } = await ok("POST", "/autoresponders", series(html_content));
    await ok("POST", `/autoresponders/${id}/activate`);
    clock.advance(1_000);
    await join();
    await advanceAutoresponders({ db, clock, plans }, new AbortController().signal, deps.log);
    return { examine: createAutoresponderMail(deps), path: `/autoresponders/${id}` };
  },
};
const series = (html_content: string) => ({
  name: "Welcome",
  mailing_list_id: list,
  from_email: "news@shop.test",
  trigger: { type: "subscribed" },
  steps: [{ subject: "Hi", html_content }],
});

const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`${name}="([^"]*)"`, "g"))].map(([, value = ""]) =>
    value.replaceAll("&amp;", "&"),
  );
const linkNamed = (html: string, name: string) =>
  attributes(html.split(`>${name}</a>`)[0]?.split("<a ").at(-1) ?? "", "href")[0] ?? expect.fail(name);
const locationOf = async (address: string) => (await visit(address)).headers.get("location");
/** The mail as it is seen, without the addresses that differ between mail and web view. */
const seen = (html: string) => html.replaceAll(/ (?:href|src)="[^"]*"/g, "").replaceAll(/<img [^>]*>/g, "");

const send = async (way: keyof typeof ways, content: string) => {
  const { examine, path } = await ways[way](content);
  const message = await leased();
  const finding = (await examine([message])).get(message.message_id);
  if (finding?.kind !== "email") return expect.fail(JSON.stringify(finding));
  return { html: String(finding.content().html), path, messageId: message.message_id };
};

const idOfAnn = async () => {
  const row = await db.row<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and email = ${email}`);
  return row?.id ?? expect.fail("nobody");
};

/** What may happen afterwards, one after the other. */
const later: Record<string, (path: string) => Promise<unknown>> = {
  "an import with other values": () =>
    addPeople(db, workspaceId, list, [
      {
        email,
        first_name: "Anna",
        last_name: "Li",
        custom_fields: { code: "SUMMER-999", note: "x", items: [], long: "", hidden: "" },
      },
    ]),
  "an edit of the person": async () =>
    ok("PUT", `/mailing-lists/${list}/subscribers/${await idOfAnn()}`, {
      first_name: "",
      custom_fields: { code: null, note: "other" },
    }),
  "another name of the list": () => ok("PUT", `/mailing-lists/${list}`, { name: "Other" }),
  "another content, or name": (path) =>
    path.startsWith("/autoresponders")
      ? ok("PUT", path, {
          ...series('<p>New {{ code }} <a href="https://other.example/?c={{ code }}">offer</a></p>'),
          name: "Renamed",
        })
      : db.run(sql`update campaigns set name = 'Renamed' where workspace_id = ${workspaceId}`),
  "another time zone": () =>
    db.run(sql`update workspaces set timezone = 'Pacific/Auckland' where id = ${workspaceId}`),
  "the deletion of the person": async () =>
    ok("DELETE", `/mailing-lists/${list}/subscribers/${await idOfAnn()}`),
  "the deletion of what sent it": async (path) => {
    if (path.startsWith("/campaigns")) await ok("POST", `${path}/cancel`);
    await ok("DELETE", path);
  },
};

beforeEach(async () => {
  await db.run(sql`truncate delivery_queue`);
  await db.run(sql`update workspaces set timezone = 'Europe/Berlin' where id = ${workspaceId}`);
  await db.run(sql`delete from memberships where workspace_id = ${workspaceId}`);
  await db.run(sql`delete from subscribers where workspace_id = ${workspaceId}`);
  await db.run(sql`update campaigns set status = 'cancelled' where status = 'sending'`);
  await db.run(sql`update autoresponders set status = 'inactive'`);
  list = await newList(db, workspaceId);
});

const content = [
  "<p>Dear {{ first_name }} {{ last_name | upcase }} ({{ email }}), {{ note }} {{ list_name }} {{ campaign_name }}</p>",
  '<p>On {{ "2026-07-01T22:30:00Z" | date: "%d %H:%M" }} {{ "now" | date: "%Y-%m-%d %H:%M:%S" }}</p>',
  '<a href="https://shop.example/?code={{ code }}&n={{ note | url_encode }}">offer</a>',
  '<a href="https://shop.example/{{ custom_fields["code"] }}">path</a>',
  '<a href="https://shop.example/">plain</a>',
  '<a href="{{ view_in_browser_url }}">browser</a>',
].join("\n");
const deciding = `{% if hidden == "secret-tier" %}<p>Gold</p>{% endif %}
  {% for item in items %}<a href="https://shop.example/{{ item }}">{{ item }}</a>{% endfor %}${content}`;

describe.each(["campaign", "autoresponder"] as const)("a mail of %s", (way) => {
  test.each([
    ["values alone", content],
    ["tags that decide and repeat", deciding],
  ])(
    "made of %s leads where it led and looks in the browser as it did, whatever happens",
    async (_, made) => {
      const { html, path } = await send(way, made);
      expect(html).toContain("Dear Ann LEE (ann@people.test), Tom &amp; Ann");
      clock.advance(3_600_000);
      for (const [event, happens] of Object.entries(later)) {
        await happens(path);
        const links = ["offer", "path", "plain"].map((name) => linkNamed(html, name));
        expect([event, ...(await Promise.all(links.map(locationOf)))]).toEqual([
          event,
          "https://shop.example/?code=SPRING-111&n=Tom+%26+Ann+%3C3+%22quotes%22+%C3%BC",
          "https://shop.example/SPRING-111",
          "https://shop.example/",
        ]);
        const page = await visit(linkNamed(html, "browser"));
        expect([event, page.status, seen(await page.text())]).toEqual([event, 200, seen(html)]);
      }
    },
  );

  test("shows values in the browser that are too long for an address", async () => {
    const { html, path } = await send(way, `<p>{{ long }}{{ code }}</p>${content}`);
    const view = linkNamed(html, "browser");
    expect(view.length).toBeLessThan(2_000);
    await later["an import with other values"]?.(path);
    expect(seen(await (await visit(view)).text())).toBe(seen(html));
  });
});

test("a web view address does not show what it carries, and belongs to its mail", async () => {
  const { html } = await send("campaign", deciding);
  const view = linkNamed(html, "browser");
  const carried = view.split(".").at(-1) ?? "";
  expect(Buffer.from(carried, "base64url").toString("latin1")).not.toContain("secret");
  const [ids = ""] = view.split("/v/").at(-1)?.split(".") ?? [];
  for (const wrong of [`${view}A`, view.slice(0, -2), `${view}.x`, view.replace(`${ids}.`, `${ids}.AAAA`)]) {
    expect([wrong, (await visit(wrong)).status]).toEqual([wrong, 404]);
  }
});

test("an SMS gives a short address of its web view, which says what the SMS said", async () => {
  const phone = "+491701234560";
  await addPeople(db, workspaceId, list, [{ email, first_name: "Ann", custom_fields: { phone } }]);
  const id = await newCampaign(db, workspaceId, list, {
    message_type: "sms",
    phone_field_name: "phone",
    html_content: null,
    text_content: "Dear {{ first_name }}: {{ view_in_browser_url }}",
  });
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  await advanceCampaigns({ db, clock, plans }, new AbortController().signal, deps.log);
  const message = await leased();
  const finding = (await createCampaignMail(deps)([message])).get(message.message_id);
  if (finding?.kind !== "sms") return expect.fail(JSON.stringify(finding));
  const [, address = ""] = /^Dear Ann: (.*)$/.exec(finding.sms().text) ?? [];
  expect(address).toMatch(/\/v\/[\w-]{56}$/);
  await db.run(sql`update subscribers set first_name = 'Anna' where email = ${email}`);
  expect(await (await visit(address)).text()).toContain("Dear Ann:");
});

test("nothing is kept of a person for a mail that shows nothing of them", async () => {
  const { html } = await send("campaign", '<p>Hello</p><a href="{{ view_in_browser_url }}">browser</a>');
  expect(linkNamed(html, "browser")).toMatch(/\/v\/[\w-]{56}$/);
});

test("nothing is kept of a person for a mail that no page shows", async () => {
  const { messageId } = await send("campaign", "<p>{{ long }}</p>");
  expect(await db.row(sql`select shown from messages where id = ${messageId}`)).toEqual({ shown: null });
});
