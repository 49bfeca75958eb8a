import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { findMiscounts } from "#test/support/audience.ts";
import { form, none, post, trackingScene, visit } from "#test/support/tracking-visits.ts";
import { untilWaiting } from "#test/support/waiting.ts";

const { service, oneMail, countersOf, person } = await trackingScene();
const { database, url: base } = service;

const statusOn = async (listId: string) =>
  (
    await database.row<{ status: string }>(
      sql`select status from memberships where mailing_list_id = ${listId}`,
    )
  )?.status;

test("GET changes nothing, POST unsubscribes, and a second POST changes nothing", async () => {
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

const idOf = async (email: string) =>
  (await database.row<{ id: string }>(sql`select id from subscribers where email = ${email}`))?.id;
const undo = (address: string) => visit(address, { method: "POST", body: "take_back=yes", type: form });
const undoButton = "<button>Undo</button>";

test("an unsubscription can be undone, twice at most, and other lists stay as they were", async () => {
  const { links, campaignId, listId, email } = await oneMail({ isToList: false });
  const { body } = await service.call("POST", "/mailing-lists", { name: "Left before" });
  await service.call("POST", `/mailing-lists/${body.data.id}/subscribers`, { email });
  const id = await idOf(email);
  const member = `/mailing-lists/${body.data.id}/subscribers/${id}`;
  await service.call("PUT", `${member}/status`, { status: "unsubscribed" });
  service.clock.advance(1_000);
  expect(await (await visit(links.unsubscribe)).text()).not.toContain(undoButton);
  expect(await (await post(links.unsubscribe)).text()).toContain(undoButton);
  expect(await statusOn(listId)).toBe("unsubscribed");
  expect(await (await visit(links.unsubscribe)).text()).toContain(undoButton);
  expect(await statusOn(listId)).toBe("unsubscribed");
  for (let time = 0; time < 2; time++) {
    const answer = await undo(links.unsubscribe);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining("You are subscribed"),
    ]);
    expect([await statusOn(listId), await statusOn(body.data.id)]).toEqual(["active", "unsubscribed"]);
  }
  await expect.poll(() => countersOf(campaignId)).toEqual({ ...none, unsubscribed: 1, activities: 1 });
  expect(await findMiscounts(database)).toEqual([]);
});

test("an unsubscription cannot be undone after an hour, nor by the link of another mail", async () => {
  const left = await oneMail();
  await post(left.links.unsubscribe);
  service.clock.advance(3_600_000);
  expect(await (await visit(left.links.unsubscribe)).text()).not.toContain(undoButton);
  expect(await (await undo(left.links.unsubscribe)).text()).toContain("You are unsubscribed");
  expect(await statusOn(left.listId)).toBe("unsubscribed");

  const byApi = await oneMail();
  const id = await idOf(byApi.email);
  const member = `/mailing-lists/${byApi.listId}/subscribers/${id}`;
  await service.call("PUT", `${member}/status`, { status: "unsubscribed" });
  await undo(byApi.links.unsubscribe);
  expect(await statusOn(byApi.listId)).toBe("unsubscribed");
});

test("a one-click request is one POST, urlencoded or multipart, and gets no page", async () => {
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

test("unsubscribes from the mail's list only, or from all lists if the mail had none", async () => {
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

test("the page says from what the recipient has unsubscribed", async () => {
  const { database: db } = service;
  const ofList = await oneMail();
  const ofAll = await oneMail({ isToList: false });
  await db.run(sql`update mailing_lists set name = 'News' where id = ${ofList.listId}`);
  const said = async (answer: Promise<Response>) =>
    /<p>(.*?)<\/p>/.exec(await (await answer).text())?.[1]?.replaceAll(/<\/?bdi>/g, "");
  const who = (email: string) => `${email.charAt(0)}…@people.test`;
  expect(await said(visit(ofList.links.unsubscribe))).toBe(
    `Unsubscribe ${who(ofList.email)} from <strong>News</strong>?`,
  );
  expect(await said(visit(ofAll.links.unsubscribe))).toBe(
    `Unsubscribe ${who(ofAll.email)} from these emails? This covers all lists of the sender.`,
  );
  expect(await said(post(ofList.links.unsubscribe))).toBe(
    `${who(ofList.email)} gets no more emails from <strong>News</strong>.`,
  );
  expect(await said(post(ofAll.links.unsubscribe))).toBe(
    `${who(ofAll.email)} gets no more of these emails: it is unsubscribed from all lists of the sender.`,
  );
});

test("unsubscribes from the mail's list only, although its campaign was deleted", async () => {
  const { links, campaignId, listId, email } = await oneMail();
  const { body } = await service.call("POST", "/mailing-lists", { name: "Another" });
  await service.call("POST", `/mailing-lists/${body.data.id}/subscribers`, { email });
  expect((await service.call("DELETE", `/campaigns/${campaignId}`)).status).toBe(200);
  expect((await post(links.unsubscribe)).status).toBe(200);
  expect([await statusOn(listId), await statusOn(body.data.id)]).toEqual(["unsubscribed", "active"]);
});

test("unsubscribing works after the campaign, the list or the subscriber was deleted", async () => {
  const noCampaign = await oneMail();
  await database.run(sql`delete from campaigns where id = ${noCampaign.campaignId}`);
  await database.run(sql`delete from campaign_recipients where campaign_id = ${noCampaign.campaignId}`);
  expect((await post(noCampaign.links.unsubscribe)).status).toBe(200);
  expect(await statusOn(noCampaign.listId)).toBe("unsubscribed");

  const noList = await oneMail();
  await service.call("DELETE", `/mailing-lists/${noList.listId}`);
  expect((await visit(noList.links.unsubscribe)).status).toBe(200);
  const answer = await post(noList.links.unsubscribe);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("no longer exists")]);
});

test("a subscriber who complained keeps that status", async () => {
  const { links, listId } = await oneMail();
  await database.run(sql`update memberships set status = 'complained' where mailing_list_id = ${listId}`);
  expect((await post(links.unsubscribe)).status).toBe(200);
  expect(await statusOn(listId)).toBe("complained");
});

test("unsubscribing while opens are being recorded waits without locking the subscriber", async () => {
  const { links, listId, email, messageId } = await oneMail();
  const { leaving } = await database.transaction(async (tx) => {
    // The lock order of opens and clicks: the recipient, then the subscriber. Another order here would cause a deadlock.
    await tx.run(sql`select from campaign_recipients where message_id = ${messageId} for update`);
    const leaving = post(links.unsubscribe);
    await untilWaiting(database, 1);
    await tx.run(sql`select from subscribers where email = ${email} for update nowait`);
    return { leaving };
  });
  expect((await leaving).status).toBe(200);
  expect(await statusOn(listId)).toBe("unsubscribed");
});

test("other tokens do not unsubscribe, and an invalid one reveals nothing", async () => {
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

test("the name of a list is escaped", async () => {
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
