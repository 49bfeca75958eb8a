import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Engagement, recordEngagements } from "#messages/record-engagement.ts";
import { systemClock } from "#platform/clock.ts";
import { newId } from "#platform/ids.ts";
import { startRunner } from "#platform/jobs/runner.ts";
import { createLog } from "#platform/log/log.ts";
import { createEngagementReactions } from "#processes/reactions.ts";
import { MOST_RECIPIENTS_READ } from "#sending/campaigns/analytics/scan-recipients-store.ts";
import { newList } from "#test/support/audience.ts";
import { endedJob } from "#test/support/ended-job.ts";
import { all } from "#test/support/segments.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign, type TrackedCampaign } from "#test/support/tracked-campaign.ts";
import { RECIPIENT_EXPORT_JOB, recipientExportHandler } from "./recipient-export-job.ts";

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-recipients-"));
const service = await startService({ env: { DATA_DIR: dataDir } });
const { call, database, workspaceId, clock } = service;
const handlers = { [RECIPIENT_EXPORT_JOB]: recipientExportHandler({ db: database, clock }) };
const runner = await startRunner({ database, dataDir, log: createLog("silent"), handlers, recurring: [] });
afterAll(async () => {
  await runner.stop();
  await rm(dataDir, { recursive: true, force: true });
});

let campaign: TrackedCampaign;

/** The first four recipients: opened; clicked link 1; clicked link 0; nothing. */
beforeAll(async () => {
  const deliveredAt = new Date(Date.now() - 3_600_000);
  const urls = ["https://shop.example/", "https://shop.example/sale"];
  campaign = await sentCampaign(database, workspaceId, { base: service.url, people: 4, urls, deliveredAt });
  const event = (person: number, link?: number): Engagement => ({
    workspaceId,
    messageId: campaign.mails[person]?.messageId ?? "",
    kind: link === undefined ? "opened" : "clicked",
    time: new Date(),
    times: 1,
    linkIndex: link ?? null,
    target: link === undefined ? null : (urls[link] ?? null),
    userAgent: "Mail",
    machineSign: null,
  });
  const events = [event(0), event(1, 1), event(2, 0)];
  await database.transaction((tx) => recordEngagements(tx, events, createEngagementReactions(systemClock)));
});

const positions = (emails: readonly string[]) =>
  emails
    .map((email) => campaign.mails.findIndex((mail) => mail.email === email))
    .toSorted((one, other) => one - other);

describe("an export of recipients", () => {
  const start = (body?: object, id = campaign.campaignId) =>
    call("POST", `/campaigns/${id}/messages/export-async`, body);

  async function exported(body?: object, id?: string): Promise<string[][]> {
    const job = await endedJob(service, await start(body, id));
    expect(job).toMatchObject({ type: RECIPIENT_EXPORT_JOB, status: "completed", error: null });
    const { body: csv } = await call("GET", job.download_url.replace("/api/v1", ""));
    const lines = String(csv)
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    expect(job.result.rows).toBe(lines.length - 1);
    return lines;
  }

  test("has all recipients with what they did", async () => {
    const [header, ...rows] = await exported();
    expect(header).toEqual([
      "Email",
      "Status",
      "Accepted At",
      "Attempts",
      "Error",
      "First Opened At",
      "First Clicked At",
      "Unsubscribed At",
      "Subscriber Id",
      "Message Id",
    ]);
    expect(positions(rows.map(([email = ""]) => email))).toEqual([0, 1, 2, 3]);
    const clicker = rows.find(([email]) => email === campaign.mails[1]?.email);
    expect(clicker?.slice(1, 8)).toEqual([
      "delivered",
      expect.stringMatching(/Z$/),
      "1",
      "",
      expect.stringMatching(/Z$/),
      expect.stringMatching(/Z$/),
      "",
    ]);
    expect(clicker?.[9]).toBe(campaign.mails[1]?.messageId);
  });

  test.each([
    [{ opened: true, clicked: false }, [0]],
    [{ opened: false }, [3]],
    [{ link: 1 }, [1]],
    [{ machine: true }, []],
    [{ domain: "PEOPLE.test", status: "delivered" }, [0, 1, 2, 3]],
    [{ status: "bounced" }, []],
    [{ opened: null, format: "csv" }, [0, 1, 2, 3]],
  ])("with %j has the same people as the list", async (filter, people) => {
    const [, ...rows] = await exported(filter);
    expect(positions(rows.map(([email = ""]) => email))).toEqual(people);
  });

  test("reads beyond the recipients that one call of the list reads", async () => {
    const many = await sentCampaign(database, workspaceId, { base: service.url, deliveredAt: new Date() });
    const [[mail]] = [many.mails];
    await database.run(sql`
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
      select ${workspaceId}, ${many.campaignId}, id, id
      from (
        select (lpad(to_hex(number), 12, '0') || '70008000000000000000')::uuid as id
        from generate_series(1, ${MOST_RECIPIENTS_READ + 100}::int) number) numbers`);
    await database.run(sql`
      insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
      select workspace_id, message_id, 'campaign', 'x', 'a@b.test', 'p', 'c.test', 's', now(), now()
      from campaign_recipients where campaign_id = ${many.campaignId} and message_id = subscriber_id`);
    const [, ...rows] = await exported({}, many.campaignId);
    expect(new Set(rows.map((row) => row[9])).size).toBe(MOST_RECIPIENTS_READ + 101);
    expect(rows.map((row) => row[9])).toContain(mail?.messageId);
  });

  test.each([
    [{ link: -1 }],
    [{ link: 2 }],
    [{ status: "lost" }],
    [{ domain: "" }],
    [{ has_opened: true }],
    [{ subscriber: "x" }],
  ])("with %j is refused, and the field is named", async (body) => {
    const { status, body: answer } = await start(body);
    expect([status, answer.details[0].field]).toEqual([400, Object.keys(body)[0]]);
  });

  test("of another workspace's campaign is refused", async () => {
    const { key } = await service.newWorkspace();
    const path = `/campaigns/${campaign.campaignId}/messages/export-async`;
    expect((await call("POST", path, {}, { key })).status).toBe(404);
  });
});

test("who unsubscribed through a campaign is found in the list, the export and a segment", async () => {
  const left = await sentCampaign(database, workspaceId, {
    base: service.url,
    people: 3,
    deliveredAt: new Date(),
  });
  const { unsubscribe = "" } = left.mails[1]?.links ?? {};
  await fetch(unsubscribe, {
    method: "POST",
    body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
  });
  const among = (emails: readonly string[]) =>
    left.mails.flatMap(({ email }, at) => (emails.includes(email) ? [at] : []));
  const base = `/campaigns/${left.campaignId}`;
  const start = (filter: object) => call("POST", `${base}/messages/export-async`, filter);
  for (const [unsubscribed, people] of [
    [true, [1]],
    [false, [0, 2]],
  ] as const) {
    const { messages, pagination } = (await call("GET", `${base}/messages?unsubscribed=${unsubscribed}`)).body
      .data;
    const listed = messages.map(({ localpart, domain }: Record<string, string>) => `${localpart}@${domain}`);
    expect([among(listed), pagination.total, pagination.next_cursor]).toEqual([people, people.length, null]);

    const job = await endedJob(service, await start({ unsubscribed }));
    const { body: csv } = await call("GET", job.download_url.replace("/api/v1", ""));
    const rows = String(csv).trimEnd().split("\r\n").slice(1);
    expect(among(rows.map((row) => row.split(",")[0] ?? ""))).toEqual(people);

    const made = await call("POST", `${base}/segments`, { name: `Left: ${unsubscribed}`, unsubscribed });
    const path = `/mailing-lists/${left.listId}/segments/${made.body.data.id}/subscribers`;
    const members: { email: string }[] = (await call("GET", path)).body.data.subscribers;
    expect(among(members.map(({ email }) => email))).toEqual(people);
  }
  const clicked = await call("GET", `${base}/messages?unsubscribed=true&opened=true`);
  expect(clicked.body.data.messages).toEqual([]);
});

describe("a segment of recipients", () => {
  const create = (body: object, options?: { key: string }) =>
    call("POST", `/campaigns/${campaign.campaignId}/segments`, { name: "Readers", ...body }, options);

  test.each([
    [{ opened: true }, [0, 1, 2]],
    [{ opened: true, clicked: false }, [0]],
    [{ opened: false }, [3]],
    [{ link: 1 }, [1]],
    [{}, [0, 1, 2, 3]],
    [{ clicked: true, domain: "people.test" }, [1, 2]],
    [{ clicked: true, domain: "elsewhere.test" }, []],
  ])("with %j has the same people as the list of recipients", async (filter, people) => {
    const { status, body } = await create(filter);
    expect([status, body.data?.mailing_list_id]).toEqual([201, campaign.listId]);
    const path = `/mailing-lists/${campaign.listId}/segments/${body.data.id}/subscribers`;
    const members: { email: string }[] = (await call("GET", path)).body.data.subscribers;
    expect(positions(members.map(({ email }) => email))).toEqual(people);
    expect(body.data.subscriber_count).toBe(people.length);
  });

  test.each([
    ["status", "bounced"],
    ["machine", true],
    ["has_opened", true],
  ])("with the filter %s, which it does not have, is refused and says which it has", async (field, value) => {
    const { status, body } = await create({ [field]: value });
    const message = `${field} is not supported here: a segment takes the filters opened, clicked, link, unsubscribed, domain`;
    expect([status, body.details]).toEqual([400, [{ field, message }]]);
  });

  test("by a link that the campaign does not have is refused, as in the list of recipients", async () => {
    const path = `/campaigns/${campaign.campaignId}/messages?link=2`;
    for (const { status, body } of [await create({ link: 2 }), await call("GET", path)]) {
      expect([status, body.details?.[0].field]).toEqual([400, "link"]);
    }
  });

  test("selects the people of another list who got no message, and no one after the campaign is deleted", async () => {
    const other = await sentCampaign(database, workspaceId, {
      base: service.url,
      people: 2,
      deliveredAt: new Date(),
    });
    const conditions = all(["campaign", "was_not_sent", campaign.campaignId]);
    const preview = async () =>
      (await call("POST", `/mailing-lists/${other.listId}/segments/preview`, { conditions })).body;
    expect((await preview()).data.subscriber_count).toBe(2);
    const saved = await call("POST", `/mailing-lists/${other.listId}/segments`, { name: "Rest", conditions });
    await database.run(sql`update campaigns set deleted_at = now() where id = ${campaign.campaignId}`);
    const path = `/mailing-lists/${other.listId}/segments/${saved.body.data.id}/subscribers`;
    const rest = (await call("GET", path)).body.data.pagination.total;
    const refused = await preview();
    await database.run(sql`update campaigns set deleted_at = null where id = ${campaign.campaignId}`);
    expect([rest, refused.details[0].message]).toEqual([
      0,
      "conditions.rules[0]: value is no campaign of this workspace",
    ]);
  });

  test("needs a list if the campaign was not sent to one", async () => {
    const wide = await sentCampaign(database, workspaceId, {
      base: service.url,
      deliveredAt: new Date(),
      isToList: false,
    });
    const path = `/campaigns/${wide.campaignId}/segments`;
    const refused = await call("POST", path, { name: "Readers" });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, "list_id"]);
    const list_id = await newList(database, workspaceId);
    expect((await call("POST", path, { name: "Readers", list_id })).status).toBe(201);
    const unknown = await call("POST", path, { name: "Readers", list_id: newId() });
    expect([unknown.status, unknown.body.details[0].field]).toEqual([400, "list_id"]);
  });

  test.each([
    ["opened", "x"],
    ["opened", newId()],
    ["clicked_link", newId()],
    ["clicked_link", { campaign_id: newId(), link: 0 }],
    ["clicked_link", { campaign_id: newId(), link: -1 }],
    ["was_sent", { campaign_id: newId() }],
    ["unsubscribed", newId()],
  ])("whose rule says %s %j is refused", async (operator, value) => {
    const conditions = all(["campaign", operator, value]);
    const path = `/mailing-lists/${campaign.listId}/segments`;
    const refused = await call("POST", path, { name: "Readers", conditions });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, "conditions.rules[0]"]);
  });

  test("cannot name another workspace's campaign", async () => {
    const { key } = await service.newWorkspace();
    expect((await create({}, { key })).status).toBe(404);
    const list = (await call("POST", "/mailing-lists", { name: "Theirs" }, { key })).body.data.id;
    const conditions = all(["campaign", "opened", campaign.campaignId]);
    const path = `/mailing-lists/${list}/segments/preview`;
    expect((await call("POST", path, { conditions }, { key })).status).toBe(400);
  });
});
