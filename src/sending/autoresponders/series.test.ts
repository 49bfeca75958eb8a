import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { linkKey } from "#test/support/tracked-campaign.ts";
import { post } from "#test/support/tracking-visits.ts";
import { mailLinks } from "#tracking/link-tokens.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { advanceDueAutoresponders, sendStep } from "./advance.ts";
import { listDueAutoresponders, skipRemovedStep } from "./runs-store.ts";

const service = await startService();
const { database: db, workspaceId, clock } = service;
await verifyShop(db, workspaceId);
const log = createLog("silent");
const welcome = { subject: "Welcome", html_content: "<p>Hello {{ first_name }}</p>" };
const tips = { delay: { days: 1 }, subject: "Tips", html_content: "<p>Tips</p>" };
const offer = { delay: { days: 2 }, subject: "Offer", html_content: "<p>Offer</p>" };

let list: string;
let series: string;

const body = (change: object = {}) => ({
  name: "Series",
  mailing_list_id: list,
  from_email: "news@shop.test",
  trigger: { type: "subscribed" },
  steps: [welcome, tips, offer],
  ...change,
});
const create = async (change: object = {}): Promise<string> =>
  (await service.call("POST", "/autoresponders", body(change))).body.data.id;
const act = async (what: "activate" | "deactivate", id = series) =>
  expect((await service.call("POST", `/autoresponders/${id}/${what}`)).status).toBe(200);
const work = (change: { db?: Database; size?: number } = {}) =>
  advanceDueAutoresponders({ db, clock, plans, ...change }, new AbortController().signal, log);
const later = async (milliseconds: number) => {
  clock.advance(milliseconds);
  await work();
};
const join = (email: string, more: object = {}, options: Parameters<typeof addPeople>[4] = {}) =>
  addPeople(db, workspaceId, list, [{ email, ...more }], { now: clock.now(), ...options });
const leave = async (email: string, status = "unsubscribed") => {
  const row = await db.row<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and email = ${email}`);
  const path = `/mailing-lists/${list}/subscribers/${row?.id}/status`;
  expect((await service.call("PUT", path, { status })).status).toBe(200);
};
/** "person subject", in the order they were made. */
const mails = async (id = series): Promise<string[]> => {
  const rows = await db.rows<{ mail: string }>(sql`
    select localpart || ' ' || subject as mail from messages m
    join delivery_queue q on q.workspace_id = m.workspace_id and q.message_id = m.id and q.campaign_id = m.origin_id
    where m.origin_id = ${id} and m.source = 'autoresponder' order by m.id`);
  return rows.map(({ mail }) => mail);
};

beforeEach(async () => {
  await db.run(sql`update workspaces set timezone = 'UTC' where id = ${workspaceId}`);
  list = await newList(db, workspaceId);
  series = await create();
  await act("activate");
});

describe("a series that joining begins", () => {
  test("goes step by step, each once, to who joined after it was activated", async () => {
    const second = await create();
    await join("ada@example.test");
    clock.advance(1_000);
    await act("activate", second);
    await work();
    expect(await mails()).toEqual(["ada Welcome"]);
    await later(DAY_MS - 1);
    expect(await mails()).toEqual(["ada Welcome"]);
    await later(1);
    expect(await mails()).toEqual(["ada Welcome", "ada Tips"]);
    await later(2 * DAY_MS);
    await later(100 * DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Tips", "ada Offer"]);
    expect(await mails(second)).toEqual([]);
  });

  test("does not begin for an import, unless that asks for it", async () => {
    await join("ada@example.test", {}, { isQuiet: true });
    await join("eve@example.test", {}, { isQuiet: false });
    await work();
    expect(await mails()).toEqual(["eve Welcome"]);
  });

  test("begins for those who come back, and not when an import brings them back", async () => {
    await join("ada@example.test", { status: "unsubscribed" });
    await join("eve@example.test", { status: "unsubscribed" });
    await work();
    expect(await mails()).toEqual([]);
    clock.advance(HOUR_MS);
    await join("ada@example.test", {}, { resubscribe: true });
    await join("eve@example.test", {}, { resubscribe: true, isQuiet: true });
    await work();
    expect(await mails()).toEqual(["ada Welcome"]);
  });

  test("ends for who leaves, bounces, complains or is deleted", async () => {
    for (const name of ["ada", "eve", "joe", "kim", "sue"]) await join(`${name}@example.test`);
    await work();
    await leave("ada@example.test");
    await leave("eve@example.test", "bounced");
    await leave("joe@example.test", "complained");
    await db.run(
      sql`delete from memberships where subscriber_id in (select id from subscribers where email like 'kim@%')`,
    );
    await later(DAY_MS);
    expect((await mails()).slice(5)).toEqual(["sue Tips"]);
  });

  test.each(["global", "mailing_list"])("is not sent to who is suppressed, %s", async (suppression_scope) => {
    await join("ada@blocked.test");
    const { body } = await service.call("POST", "/suppression-lists", {
      name: `Blocked ${newId()}`,
      suppression_scope,
      mailing_list_id: suppression_scope === "global" ? null : list,
    });
    await service.call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: "ada@blocked.test" });
    await work();
    await later(DAY_MS);
    expect(await mails()).toEqual([]);
    await service.call("DELETE", `/suppression-lists/${body.data.id}`);
  });

  test("starts again for who leaves and comes back", async () => {
    await join("ada@example.test");
    await work();
    await leave("ada@example.test");
    clock.advance(HOUR_MS);
    await leave("ada@example.test", "active");
    await work();
    expect(await mails()).toEqual(["ada Welcome", "ada Welcome"]);
    await later(DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Welcome", "ada Tips"]);
  });

  test("goes on for who leaves by a mail's link and takes it back", async () => {
    await join("liz@example.test");
    await work();
    const message = await db.row<{ id: string }>(sql`select id from messages where origin_id = ${series}`);
    const mail = { workspaceId, messageId: message?.id ?? "" };
    const { unsubscribe } = mailLinks(mail, service.url, linkKey);
    clock.advance(HOUR_MS);
    await post(unsubscribe);
    await later(HOUR_MS / 2);
    expect(await (await post(unsubscribe, "take_back=yes")).text()).toContain("You are subscribed");
    await later(DAY_MS - 1.5 * HOUR_MS);
    expect(await mails()).toEqual(["liz Welcome", "liz Tips"]);
  });

  test("finds a person whose membership becomes visible late", async () => {
    const joined = clock.now();
    await later(3 * 60_000);
    await join("ada@example.test", {}, { now: joined });
    await later(60_000);
    expect(await mails()).toEqual(["ada Welcome"]);
  });
});

describe("a series that is deactivated", () => {
  test("stops at once, and goes on where it stopped without a backlog", async () => {
    await join("ada@example.test");
    await work();
    await later(DAY_MS / 2);
    await act("deactivate");
    await later(30 * DAY_MS);
    expect(await mails()).toEqual(["ada Welcome"]);
    await act("activate");
    await work();
    expect(await mails()).toEqual(["ada Welcome"]);
    await later(DAY_MS / 2 - 1);
    expect(await mails()).toEqual(["ada Welcome"]);
    await later(1);
    expect(await mails()).toEqual(["ada Welcome", "ada Tips"]);
  });

  test("leaves out who joined meanwhile", async () => {
    await act("deactivate");
    clock.advance(HOUR_MS);
    await join("ada@example.test");
    clock.advance(HOUR_MS);
    await act("activate");
    await later(DAY_MS);
    expect(await mails()).toEqual([]);
  });

  test("continues with people who joined or returned before the deactivation and were not scanned yet", async () => {
    await join("ada@example.test");
    await work();
    await leave("ada@example.test");
    clock.advance(HOUR_MS);
    await leave("ada@example.test", "active");
    await join("mia@example.test");
    await act("deactivate");
    clock.advance(1);
    await join("leo@example.test");
    await later(30 * DAY_MS);
    expect(await mails()).toEqual(["ada Welcome"]);
    await act("activate");
    await join("zoe@example.test");
    await work({ size: 1 });
    await work();
    const begun = ["ada Welcome", "ada Welcome", "mia Welcome", "zoe Welcome"];
    expect((await mails()).toSorted()).toEqual(begun);
    await later(DAY_MS);
    expect((await mails()).slice(4).toSorted()).toEqual(["ada Tips", "mia Tips", "zoe Tips"]);
  });

  test("knows apart the times between several deactivations", async () => {
    for (const [inside, outside] of [
      ["in1", "out1"],
      ["in2", "out2"],
    ]) {
      await join(`${inside}@example.test`);
      await act("deactivate");
      clock.advance(1_000);
      await join(`${outside}@example.test`);
      clock.advance(1_000);
      await act("activate");
    }
    await work();
    expect((await mails()).toSorted()).toEqual(["in1 Welcome", "in2 Welcome"]);
  });

  test("people who were not scanned yet keep the rest of their delay", async () => {
    series = await create({ steps: [tips] });
    await act("activate");
    await join("ada@example.test");
    clock.advance(HOUR_MS);
    await act("deactivate");
    clock.advance(30 * DAY_MS);
    await act("activate");
    await later(DAY_MS - HOUR_MS - 1);
    expect(await mails()).toEqual([]);
    await later(1);
    expect(await mails()).toEqual(["ada Tips"]);
  });

  test("does not go on with another list", async () => {
    await join("ada@example.test");
    await act("deactivate");
    clock.advance(HOUR_MS);
    list = await newList(db, workspaceId);
    await service.call("PUT", `/autoresponders/${series}`, body());
    await join("mia@example.test");
    clock.advance(HOUR_MS);
    await act("activate");
    await join("leo@example.test");
    await work();
    expect(await mails()).toEqual(["leo Welcome"]);
  });
});

describe("each mail is made once", () => {
  const crowd = () =>
    addPeople(
      db,
      workspaceId,
      list,
      Array.from({ length: 57 }, (_, at) => ({ email: `user${at}@example.test` })),
      { now: clock.now() },
    );
  const isEverybodyOnce = async () => {
    const sent = await mails();
    expect([sent.length, new Set(sent).size]).toEqual([57, 57]);
    const counters = await db.row(
      sql`select queued from autoresponder_counters where autoresponder_id = ${series}`,
    );
    expect(counters).toEqual({ queued: 57 });
  };

  test("by several workers at once", async () => {
    await crowd();
    await Promise.all(Array.from({ length: 4 }, () => work({ size: 7 })));
    await work();
    await isEverybodyOnce();
  });

  test("by one that is killed before any of its commits, and the next", async () => {
    await crowd();
    let left = 0;
    const killed: Database = {
      ...db,
      transaction: (run) =>
        db.transaction(async (tx) => {
          const result = await run(tx);
          if (left-- === 0) throw new Error("killed");
          return result;
        }),
    };
    for (let at = 0; at < 20; at++) {
      left = at;
      await work({ db: killed, size: 10 });
    }
    await isEverybodyOnce();
  });

  test("page by page", async () => {
    await crowd();
    await work({ size: 10 });
    await isEverybodyOnce();
  });
});

describe("with many people", () => {
  const crowd = (of = list, size = 60) =>
    addPeople(
      db,
      workspaceId,
      of,
      Array.from({ length: size }, (_, at) => ({ email: `${at}@${of}.test` })),
      { now: clock.now() },
    );

  /** With what the connection has not reported of its last transactions. */
  const rowsRead = async (tx: Queryable, tables = ["subscribers", "memberships"]): Promise<number> => {
    const row = await tx.row<{ rows: number }>(sql`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
      where relname = any(${tables})`);
    return row?.rows ?? 0;
  };
  /** Rows of people and memberships that the transactions of the work read. */
  const readByWork = async (): Promise<number> => {
    let read = 0;
    const watched: Database = {
      ...db,
      transaction: (run) =>
        db.transaction(async (tx) => {
          const before = await rowsRead(tx);
          const result = await run(tx);
          read += (await rowsRead(tx)) - before;
          return result;
        }),
    };
    await work({ db: watched });
    return read;
  };

  /** Rows of a table that are read to see what there is to do. */
  const readForTheLook = (table: string): Promise<number> =>
    db.transaction(async (tx) => {
      const before = await rowsRead(tx, [table]);
      await listDueAutoresponders(tx, clock.now(), []);
      return (await rowsRead(tx, [table])) - before;
    });

  test("who wait for their time are not looked through, whatever the statistics know", async () => {
    await act("deactivate");
    series = await create({ steps: [tips] });
    await act("activate");
    await crowd(list, 3_000);
    await work();
    await later(DAY_MS / 2);
    expect(await readForTheLook("autoresponder_runs")).toBeLessThan(100);
    await db.run(sql`analyze autoresponder_runs`);
    expect(await readForTheLook("autoresponder_runs")).toBeLessThan(100);
    await act("deactivate");
  });

  test("scanned people are not read again for people who join later", async () => {
    clock.set(new Date(Math.ceil(clock.now().getTime() / 60_000) * 60_000));
    await crowd(list, 3_000);
    await work();
    clock.advance(40_000);
    await join("ivy@example.test");
    await work();
    clock.advance(5_000);
    expect(await readForTheLook("memberships")).toBeLessThan(100);
    await join("max@example.test");
    expect(await readByWork()).toBeLessThan(100);
    await act("deactivate");
    expect((await mails()).slice(3_000)).toEqual(["ivy Welcome", "max Welcome"]);
  });

  test("other autoresponders get their turn between pages", async () => {
    const others = await newList(db, workspaceId);
    const second = await create({ mailing_list_id: others });
    await act("activate", second);
    await crowd();
    let left = 2;
    const watched: Database = {
      ...db,
      transaction: async (run) => {
        const result = await db.transaction(run);
        if (--left === 0) await crowd(others, 1);
        return result;
      },
    };
    await work({ db: watched, size: 10 });
    const made = await db.rows<{ origin_id: string }>(sql`
      select origin_id from messages where origin_id in (${series}, ${second}) order by id`);
    expect(made).toHaveLength(61);
    expect(made.findIndex(({ origin_id }) => origin_id === second)).toBeLessThan(60);
  });

  test("by one that gives its place up now and then, with a look at people that goes to its end", async () => {
    const names = ["new1", "new2", "new3", "new4", "new5"];
    for (const name of names) await join(`${name}@example.test`);
    const { signal } = new AbortController();
    const turn = () =>
      advanceDueAutoresponders({ db, clock, plans, size: 1 }, signal, log, 0).catch(
        (fault: unknown) => fault,
      );
    expect(await turn()).toBeInstanceOf(PutBack);
    const row = await db.row(sql`
      select count(*) from autoresponder_runs where autoresponder_id = ${series}`);
    expect(row).toEqual({ count: names.length });
    let turns = 1;
    while (turns < 20 && (await turn()) !== undefined) turns += 1;
    expect(turns).toBeLessThan(20);
    expect((await mails()).toSorted()).toEqual(names.map((name) => `${name} Welcome`));
  });

  test("those who wait for a removed step go on some at a time", async () => {
    await crowd(list, 5);
    await work();
    const { steps } = (await service.call("GET", `/autoresponders/${series}`)).body.data;
    const removed = steps[1].id;
    const change = {
      steps: [
        { ...welcome, id: steps[0].id },
        { ...offer, id: steps[2].id },
      ],
    };
    await service.call("PUT", `/autoresponders/${series}`, body(change));
    clock.advance(DAY_MS);
    const waiting = async () =>
      (
        await db.row<{ n: number }>(sql`
        select count(*)::int as n from autoresponder_runs where next_step_id = ${removed}`)
      )?.n;
    await sendStep({ db, clock, plans, size: 2 }, workspaceId, series);
    expect(await waiting()).toBe(3);
    // However many have waited as long, or longer, for another step.
    await db.run(sql`
      update autoresponder_runs set due_at = due_at - interval '1 second' where next_step_id = ${steps[2].id}`);
    await skipRemovedStep(db, workspaceId, series, { stepId: removed, now: clock.now(), most: 1 });
    expect(await waiting()).toBe(2);
    await work({ size: 2 });
    expect((await mails()).filter((mail) => mail.endsWith("Offer"))).toHaveLength(5);
  });

  test("no scan reads all people, whatever the planner statistics say", async () => {
    const other = await service.newWorkspace();
    const of = other.workspaceId as WorkspaceId;
    await verifyShop(db, of);
    const theirs = await newList(db, of);
    const made = await service.call(
      "POST",
      "/autoresponders",
      body({ mailing_list_id: theirs, steps: [tips] }),
      other,
    );
    await service.call("POST", `/autoresponders/${made.body.data.id}/activate`, undefined, other);
    const people = Array.from({ length: 15_000 }, (_, at) => ({ email: `p${at}@example.com` }));
    await addPeople(db, workspaceId, list, people, { now: clock.now(), isQuiet: true });
    await db.run(sql`analyze`);
    await addPeople(db, of, theirs, people, { now: clock.now(), isQuiet: true });
    await db.run(sql`
      update memberships set is_quiet = false where workspace_id = ${of} and subscriber_id in (
        select subscriber_id from memberships where workspace_id = ${of} limit 300)`);
    await work();
    await db.run(sql`analyze autoresponder_runs`);
    clock.advance(DAY_MS);
    const looked = await readByWork();
    expect(await mails(made.body.data.id)).toHaveLength(300);
    expect(looked).toBeLessThan(8_000);
  });

  test("those who joined while it was inactive are not looked through", async () => {
    await join("ida@example.test");
    await act("deactivate");
    clock.advance(HOUR_MS);
    await crowd(list, 3_000);
    clock.advance(HOUR_MS);
    await act("activate");
    await db.run(sql`analyze memberships`);
    const looked = await readByWork();
    expect(await mails()).toEqual(["ida Welcome"]);
    expect(looked).toBeLessThan(100);
  });
});

describe("what the account does not cover", () => {
  test("waits, and says why until it goes on", async () => {
    const other = await service.newWorkspace();
    const of = other.workspaceId as WorkspaceId;
    await verifyShop(db, of);
    const theirs = await newList(db, of);
    const made = await service.call("POST", "/autoresponders", body({ mailing_list_id: theirs }), other);
    const { id } = made.body.data;
    const reason = async () =>
      (await service.call("GET", `/autoresponders/${id}`, undefined, other)).body.data.waiting_reason;
    await service.call("POST", `/autoresponders/${id}/activate`, undefined, other);
    await changeWorkspace(db, of, { hourly_cap: 1 }, { clock, plans });
    const people = ["ada@example.test", "eve@example.test"].map((email) => ({ email }));
    await addPeople(db, of, theirs, people, { now: clock.now() });
    expect(await reason()).toBeNull();
    await work();
    expect([await reason(), (await mails(id)).length]).toEqual(["hourly_cap", 1]);
    await later(HOUR_MS);
    expect([await reason(), (await mails(id)).length]).toEqual([null, 2]);
  });
});

describe("steps that change while people are in the middle", () => {
  const put = async (steps: readonly object[], change: object = {}) =>
    expect((await service.call("PUT", `/autoresponders/${series}`, body({ steps, ...change }))).status).toBe(
      200,
    );
  const steps = async () => (await service.call("GET", `/autoresponders/${series}`)).body.data.steps;

  beforeEach(async () => {
    await join("ada@example.test");
    await work();
  });

  test("are sent as they are written when their time comes", async () => {
    await put([welcome, { ...tips, subject: "Better tips" }, offer]);
    await later(DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Better tips"]);
  });

  test("keep their ids by position where none is given", async () => {
    const before = await steps();
    await put([{ ...welcome, subject: "Hi" }, tips]);
    expect((await steps()).map(({ id }: { id: string }) => id)).toEqual([before[0].id, before[1].id]);
  });

  test("are followed by the next when they are removed", async () => {
    const [first, , third] = await steps();
    await put([
      { ...welcome, id: first.id },
      { ...offer, id: third.id },
    ]);
    await later(DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Offer"]);
  });

  test("are not sent twice in another order, nor is anything before them", async () => {
    const [first, second, third] = await steps();
    const early = { subject: "Early", html_content: "<p>Early</p>" };
    await put([early, { ...tips, id: second.id }, { ...offer, id: third.id }, { ...welcome, id: first.id }]);
    await later(DAY_MS);
    await later(2 * DAY_MS);
    await later(DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Tips", "ada Offer"]);
  });

  test("end with the series when list or trigger change", async () => {
    list = await newList(db, workspaceId);
    clock.advance(HOUR_MS);
    await put([welcome, tips]);
    await join("ada@example.test");
    await work();
    await later(DAY_MS);
    expect(await mails()).toEqual(["ada Welcome", "ada Welcome", "ada Tips"]);
  });
});

describe("a date", () => {
  const dated = async (trigger: object) => {
    await act("deactivate");
    await service.call("POST", `/mailing-lists/${list}/custom-fields`, {
      field_name: "born",
      field_label: "Born",
      field_type: "date",
    });
    series = await create({ trigger: { type: "date", field: "born", ...trigger }, steps: [welcome] });
    await act("activate");
  };
  const born = (email: string, date: string) => join(email, { custom_fields: { born: date } });
  const set = async (time: string) => {
    clock.set(new Date(time));
    await work();
  };

  test("begins a series on its day, at the time of the workspace's zone, once", async () => {
    clock.set(new Date("2027-05-01T00:00:00Z"));
    await db.run(sql`update workspaces set timezone = 'America/New_York' where id = ${workspaceId}`);
    await dated({ at: "08:30" });
    await born("amy@example.test", "2027-05-02");
    await born("ben@example.test", "2026-05-02");
    await born("cat@example.test", "2027-05-03T01:00:00.000Z"); // 2 May in New York
    await set("2027-05-02T12:29:59Z");
    expect(await mails()).toEqual([]);
    await set("2027-05-02T12:30:00Z");
    await set("2027-05-02T12:30:10Z");
    await db.run(sql`update autoresponders set day_done = '2027-05-01' where id = ${series}`);
    await set("2027-05-02T12:30:20Z");
    expect(await mails()).toEqual(["amy Welcome", "cat Welcome"]);
  });

  test("comes every year, on 28 February for those of the 29th, and not before its first", async () => {
    clock.set(new Date("2027-02-27T12:00:00Z"));
    await dated({ yearly: true });
    await born("amy@example.test", "1992-02-29");
    await born("ben@example.test", "1990-02-28");
    await born("cat@example.test", "2030-02-28");
    await set("2027-02-28T09:00:00Z");
    expect((await mails()).toSorted()).toEqual(["amy Welcome", "ben Welcome"]);
    await set("2028-02-28T09:00:00Z");
    expect((await mails()).slice(2)).toEqual(["ben Welcome"]);
    await set("2028-02-29T09:00:00Z");
    expect((await mails()).slice(3)).toEqual(["amy Welcome"]);
  });

  test("whose time has passed at activation waits for the next", async () => {
    clock.set(new Date("2027-06-01T10:00:00Z"));
    await dated({ yearly: true });
    await born("amy@example.test", "1990-06-01");
    await work();
    expect(await mails()).toEqual([]);
    await set("2028-06-01T09:00:00Z");
    expect(await mails()).toEqual(["amy Welcome"]);
  });

  test("a day before a deactivation is still processed for people who were not scanned yet", async () => {
    clock.set(new Date("2027-06-10T00:00:00Z"));
    await dated({});
    await born("amy@example.test", "2027-06-10");
    await born("ben@example.test", "2027-06-11");
    clock.set(new Date("2027-06-10T09:00:02Z"));
    await act("deactivate");
    clock.set(new Date("2027-06-10T15:00:00Z"));
    await born("cat@example.test", "2027-06-10");
    clock.set(new Date("2027-06-10T20:00:00Z"));
    await act("activate");
    await work();
    expect(await mails()).toEqual(["amy Welcome"]);
    await act("deactivate");
    clock.set(new Date("2027-06-11T10:00:00Z"));
    await act("activate");
    await work();
    expect(await mails()).toEqual(["amy Welcome"]);
  });

  test("writes page by page, and only to active members", async () => {
    clock.set(new Date("2027-07-01T00:00:00Z"));
    await dated({});
    for (const name of ["amy", "ben", "cat"]) await born(`${name}@example.test`, "2027-07-01");
    await leave("ben@example.test");
    clock.set(new Date("2027-07-01T09:00:00Z"));
    await work({ size: 1 });
    expect((await mails()).toSorted()).toEqual(["amy Welcome", "cat Welcome"]);
  });
});

describe("workspaces", () => {
  test("know nothing of each other's autoresponders, lists and members", async () => {
    const other = await service.newWorkspace();
    const options = { key: other.key };
    expect((await service.call("GET", `/autoresponders/${series}`, undefined, options)).status).toBe(404);
    expect(
      (await service.call("POST", `/autoresponders/${series}/activate`, undefined, options)).status,
    ).toBe(404);
    const refused = await service.call("POST", "/autoresponders", body(), options);
    expect([refused.status, refused.body.details]).toEqual([
      400,
      [{ field: "mailing_list_id", message: "mailing_list_id is no mailing list of this workspace" }],
    ]);
    const theirs = await newList(db, other.workspaceId as WorkspaceId);
    await addPeople(db, other.workspaceId, theirs, [{ email: "ada@example.test" }], { now: clock.now() });
    await work();
    expect(await mails()).toEqual([]);
  });

  const setSuspended = (is: boolean) =>
    db.run(sql`update workspaces set is_suspended = ${is} where id = ${workspaceId}`);

  test("autoresponders of a suspended workspace send nothing, and catch up when it is resumed", async () => {
    await join("ada@example.test");
    await setSuspended(true);
    await work();
    clock.advance(HOUR_MS);
    await join("mia@example.test");
    await later(HOUR_MS);
    expect(await mails()).toEqual([]);
    await setSuspended(false);
    await work();
    expect((await mails()).toSorted()).toEqual(["ada Welcome", "mia Welcome"]);
  });

  test("a workspace that is resumed during a scan loses no member", async () => {
    await join("ada@example.test");
    await setSuspended(true);
    clock.advance(HOUR_MS);
    const resumed: Database = {
      ...db,
      rows: async (statement, name) => {
        const rows = await db.rows<never>(statement, name);
        await setSuspended(false);
        return rows;
      },
    };
    await work({ db: resumed });
    await later(HOUR_MS);
    expect(await mails()).toEqual(["ada Welcome"]);
  });
});
