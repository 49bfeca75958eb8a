import { describe, expect, it } from "vitest";
import type { Outcome } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId } from "#platform/ids.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { draft } from "#test/support/drafts.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { suppressionService } from "#test/support/suppression.ts";

const { service, database, workspaceId, clock, call, create, add, entriesOf } = await suppressionService();

const ask = (...addresses: string[]) => call("POST", "/suppressions/find", { addresses });
const find = async (...addresses: string[]) => {
  const answer = await ask(...addresses);
  expect(answer.status, answer.body.error).toBe(200);
  return answer.body.data.results;
};

/** A message to the address that ends so, after delivery if with a complaint, as the delivery process records it. */
async function end(to: string, status: Outcome["status"]): Promise<string> {
  const accepted = draft(workspaceId, to, { subject: "Your order" });
  await insertDrafts(database, [accepted]);
  const messageId = accepted.message.id;
  const said = {
    isAddressFault: true,
    detail: "550 5.1.1 No such user here",
    mxHost: "mx.example.com",
    code: 550,
    enhancedCode: "5.1.1",
  };
  for (const each of status === "complained" ? (["delivered", status] as const) : [status]) {
    const outcome = outcomeOf({ workspaceId, messageId }, each, said);
    await database.transaction((tx) => recordOutcomes(tx, [outcome], createReactions(clock)));
  }
  return messageId;
}

describe("an address", () => {
  it("that nothing keeps mail from may be mailed, known or not", async () => {
    const news = await newList(database, workspaceId, "News");
    await addPeople(database, workspaceId, news, [{ email: "free@example.com" }]);
    const [known, unknown] = await find("Free@Example.com", "Eve <eve@example.com>");
    expect(known).toMatchObject({
      address: "Free@Example.com",
      email: "free@example.com",
      may_be_mailed: true,
      summary: "free@example.com may be mailed",
      subscriber_id: expect.any(String),
      blocks: [],
      mailing_lists: [{ mailing_list_id: news, name: "News", status: "active", may_be_mailed: true }],
    });
    expect(unknown).toMatchObject({ email: "eve@example.com", subscriber_id: null, may_be_mailed: true });
  });

  it("that bounced names the message, the host and its line", async () => {
    const news = await newList(database, workspaceId, "News");
    await addPeople(database, workspaceId, news, [{ email: "gone@example.com" }]);
    const message_id = await end("gone@example.com", "bounced");
    const [found] = await find("gone@example.com");
    expect(found).toMatchObject({
      may_be_mailed: false,
      summary:
        "gone@example.com gets no mail: gone@example.com is on the list Bounces and complaints (hard_bounce)",
      mailing_lists: [{ mailing_list_id: news, status: "bounced", may_be_mailed: false }],
    });
    expect(found.blocks).toEqual([
      expect.objectContaining({
        is_system: true,
        suppression_scope: "global",
        reason: "hard_bounce",
        created_by: "system",
        removal_warning: expect.stringContaining("did not exist"),
        cause: {
          message_id,
          subject: "Your order",
          source: "api",
          time: expect.any(String),
          mx_host: "mx.example.com",
          smtp_code: 550,
          enhanced_code: "5.1.1",
          detail: "550 5.1.1 No such user here",
        },
      }),
    ]);
  });

  it("may be mailed after the entry that the answer names is removed", async () => {
    await end("angry@example.com", "complained");
    const [{ blocks }] = await find("angry@example.com");
    expect(blocks[0]).toMatchObject({
      reason: "complaint",
      removal_warning: expect.stringContaining("complained"),
    });
    const { suppression_list_id: list, entry_id } = blocks[0];
    expect((await call("DELETE", `/suppression-lists/${list}/entries/${entry_id}`)).status).toBe(200);
    expect((await find("angry@example.com"))[0]).toMatchObject({ may_be_mailed: true, blocks: [] });
  });

  it("names every entry: of its own, of its domain, global ones first, and those of one mailing list", async () => {
    const [news, offers] = [
      await newList(database, workspaceId, "News"),
      await newList(database, workspaceId, "Offers"),
    ];
    for (const list of [news, offers]) {
      await addPeople(database, workspaceId, list, [{ email: "ann@many.example" }]);
    }
    const ofNews = await create({
      name: "No news",
      suppression_scope: "mailing_list",
      mailing_list_id: news,
    });
    await add(ofNews.id, "ann@many.example");
    const [scoped] = await find("ann@many.example");
    expect(scoped).toMatchObject({
      may_be_mailed: true,
      summary: "ann@many.example may be mailed, except by 1 of the 2 mailing lists it is on",
      blocks: [{ suppression_scope: "mailing_list", mailing_list_id: news, created_by: expect.any(String) }],
    });
    const mayMail = Object.fromEntries(
      scoped.mailing_lists.map((list: { name: string; may_be_mailed: boolean }) => [
        list.name,
        list.may_be_mailed,
      ]),
    );
    expect(mayMail).toEqual({ News: false, Offers: true });
    const own = await create({ name: "Everyone" });
    await add(own.id, "@many.example\nann@many.example");
    const [both] = await find("ann@many.example");
    expect(both.may_be_mailed).toBe(false);
    expect(
      both.blocks.map((one: { reason: string; entry_type: string }) => [one.reason, one.entry_type]),
    ).toEqual([
      ["manual", "email"],
      ["domain", "domain"],
      ["manual", "email"],
    ]);
    expect(both.blocks[1].removal_warning).toContain("Every address of the domain");
  });

  it("that left a list is not mailed by it, and may be mailed otherwise", async () => {
    const news = await newList(database, workspaceId, "News");
    await addPeople(database, workspaceId, news, [{ email: "left@example.com", status: "unsubscribed" }]);
    const [found] = await find("left@example.com");
    expect(found.may_be_mailed).toBe(true);
    expect(found.mailing_lists).toMatchObject([{ status: "unsubscribed", may_be_mailed: false }]);
  });

  it("is not kept from mail by a list that is not active", async () => {
    const list = await create({ name: "Sleeping", is_active: false });
    await add(list.id, "sleepy@example.com");
    expect((await find("sleepy@example.com"))[0]).toMatchObject({ may_be_mailed: true, blocks: [] });
  });

  it("is answered from its own workspace only", async () => {
    const list = await create();
    await add(list.id, "ours@example.com");
    const { key } = await service.newWorkspace();
    const answer = await call("POST", "/suppressions/find", { addresses: ["ours@example.com"] }, { key });
    expect(answer.body.data.results[0]).toMatchObject({ may_be_mailed: true, blocks: [], mailing_lists: [] });
  });

  it("agrees with the check that messages pass", async () => {
    const global = await create({ name: "Global" });
    await add(global.id, "@closed.example\nx@open.example");
    const addresses = ["a@closed.example", "x@open.example", "y@open.example", "a@sub.closed.example"];
    const checked = await Promise.all(
      addresses.map(async (test_value) => {
        const answer = await call("POST", `/suppression-lists/${global.id}/test`, { test_value });
        return !answer.body.data.suppressed;
      }),
    );
    const found = await find(...addresses);
    expect(found.map((one: { may_be_mailed: boolean }) => one.may_be_mailed)).toEqual(checked);
    expect(checked).toEqual([false, false, true, true]);
  });
});

describe("a question", () => {
  it("is answered in its order, a repeated address twice", async () => {
    const asked = ["b@example.com", "a@example.com", "B@example.com"];
    const found = await find(...asked);
    expect(found.map(({ address }: { address: string }) => address)).toEqual(asked);
  });

  it("takes a hundred addresses, and no more and no fewer than one", async () => {
    const many = Array.from({ length: 100 }, (_, at) => `p${at}@example.com`);
    expect(await find(...many)).toHaveLength(100);
    for (const addresses of [[], [...many, "one@example.com"]]) {
      const answer = await ask(...addresses);
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  it("names every text that is no address", async () => {
    const answer = await ask("ann@example.com", "example.com", "nobody", "*@example.com");
    expect(answer.status).toBe(400);
    expect(answer.body.details.map(({ field }: { field: string }) => field)).toEqual([
      "addresses[1]",
      "addresses[2]",
      "addresses[3]",
    ]);
  });
});

describe("entries of a list", () => {
  it("come in pages of the size asked for, with the number of all", async () => {
    const { id } = await create();
    await add(id, Array.from({ length: 5 }, (_, at) => `e${at}@example.com`).join("\n"));
    const first = await call("GET", `/suppression-lists/${id}/entries?limit=2`);
    expect(first.body).toMatchObject({ total: 5, next_cursor: expect.any(String) });
    expect(first.body.data).toHaveLength(2);
    const next = await call(
      "GET",
      `/suppression-lists/${id}/entries?limit=2&after=${first.body.next_cursor}`,
    );
    expect(next.body.data.map((one: { entry_value: string }) => one.entry_value)).toEqual([
      "e2@example.com",
      "e1@example.com",
    ]);
    const last = await call("GET", `/suppression-lists/${id}/entries?limit=2&page=3`);
    expect(last.body).toMatchObject({ total: 5, next_cursor: null });
    expect(last.body.data).toHaveLength(1);
  });

  it("that a search finds are counted, also behind the last page", async () => {
    const { id } = await create();
    await add(id, "ada@example.com\nadam@example.com\nbob@example.com");
    for (const [query, shown] of [
      ["?search=ada&limit=1", 1],
      ["?search=ada&limit=1&page=9", 0],
    ] as const) {
      const { body } = await call("GET", `/suppression-lists/${id}/entries${query}`);
      expect([body.total, body.data?.length ?? 0]).toEqual([2, shown]);
    }
    expect((await entriesOf(id)).length).toBe(3);
    expect((await call("GET", `/suppression-lists/${newId()}/entries`)).status).toBe(404);
  });
});
