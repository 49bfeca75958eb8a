import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { findMiscounts } from "../../test/support/audience.ts";
import { startService } from "../../test/support/service.ts";
import { type SentMail, sentCampaign, type TrackedCampaign } from "../../test/support/tracked-campaign.ts";
import { newId } from "../platform/ids.ts";

const service = await startService();
const { database, workspaceId, url: base, clock } = service;
const browser =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

type Options = Partial<Parameters<typeof sentCampaign>[2]>;
/** Delivered an hour ago, unless said otherwise. */
const campaign = (options: Options = {}) =>
  sentCampaign(database, workspaceId, { base, deliveredAt: hoursAgo(1), ...options });

async function oneMail(options: Options = {}): Promise<SentMail & TrackedCampaign> {
  const sent = await campaign(options);
  const [mail] = sent.mails;
  if (mail === undefined) throw new Error("a campaign without a mail");
  return { ...sent, ...mail };
}

function hoursAgo(hours: number): Date {
  return new Date(clock.now().getTime() - hours * 3_600_000);
}

interface Visit {
  readonly method?: string;
  readonly agent?: string;
  readonly body?: string | FormData;
  readonly type?: string;
}

function visit(
  address: string,
  { method = "GET", agent = browser, body, type }: Visit = {},
): Promise<Response> {
  const headers = { "user-agent": agent, ...(type !== undefined && { "content-type": type }) };
  return fetch(address, { redirect: "manual", method, headers, ...(body !== undefined && { body }) });
}

const form = "application/x-www-form-urlencoded";
const post = (address: string, body?: string) =>
  visit(address, { method: "POST", ...(body !== undefined && { body, type: form }) });

function countersOf(campaignId: string): Promise<Record<string, number> | undefined> {
  return database.row(sql`
    select opens, unique_opens, clicks, unique_clicks, machine_opens, machine_clicks, unsubscribed, activities
    from campaign_counters where campaign_id = ${campaignId}`);
}

const none = {
  opens: 0,
  unique_opens: 0,
  clicks: 0,
  unique_clicks: 0,
  machine_opens: 0,
  machine_clicks: 0,
  unsubscribed: 0,
  activities: 0,
};

function person(email: string): Promise<Record<string, unknown> | undefined> {
  return database.row(sql`
    select open_count, unique_open_count, click_count, unique_click_count, engagement_score, last_opened_at,
      last_clicked_at, status
    from subscribers where email = ${email}`);
}

const listDay = (listId: string) =>
  database.row(sql`
    select sum(open_count)::int as opens, sum(click_count)::int as clicks, sum(engaged_count)::int as engaged
    from list_days where mailing_list_id = ${listId}`);

describe("the pixel", () => {
  test("counts a person once, and every opening", async () => {
    const { links, campaignId, email, listId, messageId } = await oneMail();
    for (let time = 0; time < 3; time++) {
      const answer = await visit(links.pixel);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/gif"]);
      expect(answer.headers.get("cache-control")).toContain("no-store");
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toMatch(/^GIF89a/);
    }
    await expect
      .poll(() => countersOf(campaignId))
      .toEqual({ ...none, opens: 3, unique_opens: 1, activities: 3 });
    expect(await person(email)).toMatchObject({
      open_count: 3,
      unique_open_count: 1,
      engagement_score: 25,
      last_opened_at: clock.now(),
      last_clicked_at: null,
    });
    expect(await listDay(listId)).toEqual({ opens: 1, clicks: 0, engaged: 1 });
    const { data } = (await service.call("GET", `/messages/${messageId}`)).body;
    expect(JSON.stringify(data)).toContain("opened");
  });

  test("1,000 opens at once of 20 people are 1,000 opens of 20 people", async () => {
    const { mails, campaignId } = await campaign({ people: 20 });
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, at) => visit(mails[at % 20]?.links.pixel ?? "")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const counted = async () => {
      const counters = await countersOf(campaignId);
      return [counters?.opens, counters?.unique_opens];
    };
    await expect.poll(counted).toEqual([1_000, 20]);
    const [log] = await database.rows<{ times: number; rows: number }>(sql`
      select sum(coalesce(times, 1))::int as times, count(*)::int as rows from message_events
      where campaign_id = ${campaignId} and type = 'opened'`);
    expect(log?.times).toBe(1_000);
    expect((await countersOf(campaignId))?.activities).toBe(log?.rows);
    expect(await findMiscounts(database)).toEqual([]);
  });

  test("programs are recorded, and counted apart", async () => {
    const { links, campaignId, email } = await oneMail();
    await visit(links.pixel, { agent: "Mozilla/5.0" });
    await visit(links.pixel, { agent: "" });
    await visit(links.pixel, { method: "HEAD" });
    await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_opens: 3 });
    expect(await person(email)).toMatchObject({ open_count: 0, engagement_score: 0, last_opened_at: null });
    const signs = await database.rows(sql`
      select type, machine_sign, user_agent from message_events
      where campaign_id = ${campaignId} and type <> 'delivered' order by id`);
    expect(signs).toEqual([
      { type: "machine_opened", machine_sign: "agent", user_agent: "Mozilla/5.0" },
      { type: "machine_opened", machine_sign: "agent", user_agent: "" },
      { type: "machine_opened", machine_sign: "head", user_agent: browser },
    ]);
  });

  test("who opens what is not delivered yet is a program", async () => {
    const { links, campaignId } = await oneMail({ isDelivered: false });
    await visit(links.pixel);
    await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_opens: 1 });
  });
});

test("nobody waits long for a database that does, and nothing is lost", async () => {
  const { links, campaignId } = await oneMail();
  await database.transaction(async (tx) => {
    await tx.run(sql`select from campaign_counters where campaign_id = ${campaignId} for update`);
    const begun = performance.now();
    expect((await visit(links.pixel)).status).toBe(200);
    expect((await visit(links.tracked(0))).status).toBe(302);
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect((await countersOf(campaignId))?.opens).toBe(0);
  });
  await expect
    .poll(async () => {
      const counters = await countersOf(campaignId);
      return [counters?.opens, counters?.clicks];
    })
    .toEqual([1, 1]);
});

describe("a link", () => {
  const url = "https://shop.example/a?x=1&y=%20#top";

  test("leads where the campaign's link of that index leads, and is counted", async () => {
    const { links, campaignId, email, listId } = await oneMail({ urls: ["https://other.example/", url] });
    for (let time = 0; time < 2; time++) {
      const answer = await visit(links.tracked(1));
      expect([answer.status, answer.headers.get("location")]).toEqual([302, url]);
      expect(answer.headers.get("cache-control")).toContain("no-store");
    }
    await expect
      .poll(() => countersOf(campaignId))
      .toEqual({ ...none, clicks: 2, unique_clicks: 1, activities: 2 });
    const perLink = await database.rows(sql`
      select index, click_count, unique_click_count from campaign_links where campaign_id = ${campaignId} order by 1`);
    expect(perLink).toEqual([
      { index: 0, click_count: 0, unique_click_count: 0 },
      { index: 1, click_count: 2, unique_click_count: 1 },
    ]);
    expect(await person(email)).toMatchObject({
      click_count: 2,
      unique_click_count: 1,
      engagement_score: 75,
    });
    expect(await listDay(listId)).toEqual({ opens: 0, clicks: 1, engaged: 1 });
    const hours = await database.row(sql`
      select sum(clicks)::int as clicks from campaign_hours where campaign_id = ${campaignId}`);
    expect(hours).toEqual({ clicks: 2 });
  });

  test("HEAD leads there, too, and counts as a program's", async () => {
    const { links, campaignId } = await oneMail({ urls: [url] });
    const answer = await visit(links.tracked(0), { method: "HEAD" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, url]);
    await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, machine_clicks: 1 });
  });

  test("all links at once, just after delivery, were followed by a scanner", async () => {
    const urls = [url, `${url}2`, `${url}3`];
    const { links, campaignId } = await oneMail({ urls, deliveredAt: clock.now() });
    await Promise.all(urls.map((_, index) => visit(links.tracked(index))));
    await expect.poll(async () => (await countersOf(campaignId))?.machine_clicks, { timeout: 5_000 }).toBe(3);
    expect((await countersOf(campaignId))?.clicks).toBe(0);
  });

  test("leads nowhere else, whatever is asked for", async () => {
    const urls = ["javascript:alert(1)", "data:text/html,x", "//evil.example", url, "https://{{x}}.example/"];
    const { links, campaignId } = await oneMail({ urls });
    const place = links.tracked(3).slice(0, -1);
    const asked = [
      ...[0, 1, 2, 4, 5, 9999].map((index) => place + index),
      ...[
        "",
        "-1",
        "3.0",
        "3e0",
        "03x",
        "3/4",
        "٣",
        "99999999999",
        "%33%0d%0aLocation:x",
        "//evil.example",
      ].map((index) => place + index),
      `${place.slice(0, -2)}/3`,
      `${base}/c/?url=https://evil.example/`,
      `${base}/c/https://evil.example/3`,
      `${base}/c/${"A".repeat(8_000)}/3`,
      `${base}/c/%0d%0aSet-Cookie:a=1/3`,
      links.pixel.replace("/o/", "/c/").replace(".gif", "/3"),
      `${links.view.replace("/v/", "/c/")}/3`,
    ];
    for (const address of asked) {
      const answer = await visit(address);
      expect([address, answer.status, answer.headers.get("location")]).toEqual([address, 404, null]);
    }
    const added = await visit(`${links.tracked(3)}?url=https://evil.example/&next=//evil.example`);
    expect(added.headers.get("location")).toBe(url);
    await expect.poll(async () => (await countersOf(campaignId))?.clicks).toBe(1);
  });

  test("of a mail that is not in the log, or of a campaign that is gone, leads nowhere", async () => {
    const { links, campaignId, messageId } = await oneMail();
    const other = await oneMail();
    await database.run(sql`delete from campaign_links where campaign_id = ${campaignId}`);
    await database.run(sql`delete from messages where id = ${other.messageId}`);
    expect((await visit(links.tracked(0))).status).toBe(404);
    expect((await visit(other.links.tracked(0))).status).toBe(404);
    expect((await visit(other.links.pixel)).status).toBe(200);
    expect(messageId).not.toBe(other.messageId);
  });
});

describe("unsubscribing", () => {
  const statusOn = async (listId: string) =>
    (
      await database.row<{ status: string }>(
        sql`select status from memberships where mailing_list_id = ${listId}`,
      )
    )?.status;

  test("looking changes nothing, the button does, and again changes nothing more", async () => {
    const { links, campaignId, listId, email } = await oneMail();
    for (const method of ["GET", "HEAD", "GET"]) {
      const answer = await visit(links.unsubscribe, { method });
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, null]);
    }
    expect(await statusOn(listId)).toBe("active");
    const question = await (await visit(links.unsubscribe)).text();
    expect(question).toContain("<button>Unsubscribe</button>");
    expect(question).not.toContain(email);

    for (let time = 0; time < 2; time++) {
      const answer = await post(links.unsubscribe);
      expect([answer.status, await answer.text()]).toEqual([
        200,
        expect.stringContaining("You are unsubscribed"),
      ]);
    }
    expect(await statusOn(listId)).toBe("unsubscribed");
    expect(await person(email)).toMatchObject({ status: "unsubscribed" });
    await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, unsubscribed: 1, activities: 1 });
    expect(await (await visit(links.unsubscribe)).text()).toContain("You are unsubscribed");
    expect(await findMiscounts(database)).toEqual([]);
  });

  test("one click is one POST, urlencoded or multipart, and gets no page", async () => {
    const multipart = new FormData();
    multipart.set("List-Unsubscribe", "One-Click");
    const bodies = [{ body: "List-Unsubscribe=One-Click", type: form }, { body: multipart }];
    for (const init of bodies) {
      const { links, listId } = await oneMail();
      const answer = await visit(links.unsubscribe, { method: "POST", ...init });
      expect([answer.status, await answer.text()]).toEqual([200, "Unsubscribed\n"]);
      expect(answer.redirected).toBe(false);
      expect(await statusOn(listId)).toBe("unsubscribed");
    }
  });

  test("is of the mail's list alone; of every list where the mail had none", async () => {
    const ofList = await oneMail();
    const ofAll = await oneMail({ isToList: false });
    for (const { email, links } of [ofList, ofAll]) {
      const { body } = await service.call("POST", "/mailing-lists", { name: "Another" });
      await service.call("POST", `/mailing-lists/${body.data.id}/subscribers`, { email });
      await post(links.unsubscribe);
    }
    const active = (email: string) =>
      database.rows(sql`
        select from memberships m join subscribers s on s.id = m.subscriber_id
        where s.email = ${email} and m.status = 'active'`);
    expect(await active(ofList.email)).toHaveLength(1);
    expect(await active(ofAll.email)).toHaveLength(0);
  });

  test("works when the campaign, the list or the person is gone", async () => {
    const noCampaign = await oneMail();
    await database.run(sql`delete from campaigns where id = ${noCampaign.campaignId}`);
    await database.run(sql`delete from campaign_recipients where campaign_id = ${noCampaign.campaignId}`);
    expect((await post(noCampaign.links.unsubscribe)).status).toBe(200);
    expect(await statusOn(noCampaign.listId)).toBe("unsubscribed");

    const noList = await oneMail();
    await service.call("DELETE", `/mailing-lists/${noList.listId}`);
    expect((await visit(noList.links.unsubscribe)).status).toBe(200);
    const answer = await post(noList.links.unsubscribe);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining("does not exist any more"),
    ]);
  });

  test("who complained stays that", async () => {
    const { links, listId } = await oneMail();
    await database.run(sql`update memberships set status = 'complained' where mailing_list_id = ${listId}`);
    expect((await post(links.unsubscribe)).status).toBe(200);
    expect(await statusOn(listId)).toBe("complained");
  });

  test("no other token does it, and a wrong one says nothing", async () => {
    const { links, listId, email } = await oneMail();
    const token = (link: string) => /[\w-]{56}/.exec(link)?.[0];
    for (const wrong of [
      token(links.pixel),
      token(links.tracked(0)),
      token(links.view),
      newId(),
      "",
      "x".repeat(9_000),
    ]) {
      const answer = await post(`${base}/u/${wrong}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain(email);
    }
    expect(await statusOn(listId)).toBe("active");
  });

  test("a list's name cannot bring markup along", async () => {
    const { links, listId } = await oneMail();
    await database.run(sql`
      update mailing_lists set name = '<script>alert(1)</script>"''' where id = ${listId}`);
    const answer = await visit(links.unsubscribe);
    expect(await answer.text()).not.toContain("<script");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("a large body is refused", async () => {
    const { links, listId } = await oneMail();
    expect((await post(links.unsubscribe, "x".repeat(100_000))).status).toBe(413);
    expect(await statusOn(listId)).toBe("active");
  });
});

describe("the mail in the browser", () => {
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
});

test("a token of one workspace does nothing in another", async () => {
  const other = await service.newWorkspace();
  const theirs = await sentCampaign(database, other.workspaceId, { base, deliveredAt: hoursAgo(1) });
  const ours = await oneMail();
  await visit(ours.links.pixel);
  await expect.poll(() => countersOf(theirs.campaignId)).toEqual(none);
});
