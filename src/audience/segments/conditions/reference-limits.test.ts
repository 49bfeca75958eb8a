import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { addPeople } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { all, type Rule, segmentService } from "#test/support/segments.ts";

const { database, service, workspaceId, lists, segmentsOf, save, saved, preview, count, get, fill } =
  await segmentService();

describe("segments of segments", () => {
  test("are evaluated on their own list", async () => {
    await fill(["both@x.example", "here@x.example"]);
    await fill(["both@x.example", "there@x.example"], lists.offers);
    const { id } = await saved({ conditions: all(["email_domain", "equals", "x.example"]) }, lists.offers);
    expect(await count(all(["segment", "is_in", id]))).toBe(1);
    expect(await count(all(["segment", "is_not_in", id]))).toBe(1);
  });

  test("in a circle are refused, however long it is", async () => {
    const { id: a } = await saved({ conditions: all(["email", "contains", "a"]) });
    const { id: b } = await saved({ conditions: all(["segment", "is_in", a]) }, lists.offers);
    const { id: c } = await saved({
      conditions: all(["email", "contains", "a"], ["segment", "is_not_in", b]),
    });
    for (const end of [a, b, c]) {
      const conditions = all(["email", "contains", "x"], ["segment", "is_in", end]);
      const answer = await service.call("PUT", `${segmentsOf()}/${a}`, { conditions });
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.body.details[0].field).toBe("conditions.rules[1]");
    }
  });

  test("in a chain that is too long are refused", async () => {
    let last = (await saved({ conditions: all(["email", "contains", "a"]) })).id;
    for (let length = 2; length <= 10; length++) {
      last = (await saved({ conditions: all(["segment", "is_in", last]) })).id;
    }
    expect((await get(`${segmentsOf()}/${last}/subscribers`)).pagination.total).toBe(0);
    const conditions = all(["email", "contains", "a"], ["segment", "is_in", last]);
    for (const answer of [await preview(conditions), await save({ name: "x", conditions })]) {
      expect([answer.status, answer.body.details[0].field]).toEqual([400, "conditions.rules[1]"]);
    }
  });

  test("with too many conditions in total are refused, indirect references included", async () => {
    const words = (length: number) =>
      all(...Array.from({ length }, (_, at): Rule => ["email", "contains", `a${at}`]));
    const times = (length: number, id: string) =>
      all(...Array.from({ length }, (): Rule => ["segment", "is_in", id]));
    const { id: part } = await saved({ conditions: words(10) });
    const { id: tenfold } = await saved({ conditions: times(90, part) });
    expect((await preview(times(1, tenfold))).status).toBe(200);
    expect((await preview(times(2, tenfold))).body.details[0].field).toBe("conditions");
    // 90 times 12 are more than the other one may come to.
    const answer = await service.call("PUT", `${segmentsOf()}/${part}`, { conditions: words(12) });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, "conditions"]);
  });

  test("that are used cannot be deleted", async () => {
    const { id } = await saved({ conditions: all(["email", "contains", "a"]) });
    const user = await saved({ conditions: all(["segment", "is_in", id]) }, lists.offers);
    const refused = await service.call("DELETE", `${segmentsOf()}/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
    await service.call("DELETE", `${segmentsOf(lists.offers)}/${user.id}`);
    const body = { name: "Kept away", suppression_scope: "segment", segment_id: id };
    const suppression = await service.call("POST", "/suppression-lists", body);
    expect((await service.call("DELETE", `${segmentsOf()}/${id}`)).body.error).toMatch(/suppression list/);
    await service.call("DELETE", `/suppression-lists/${suppression.body.data.id}`);
    expect((await service.call("DELETE", `${segmentsOf()}/${id}`)).status).toBe(200);
  });

  test("that were deleted match nobody, and their negation matches nobody, indirect references included", async () => {
    await fill(["a@x.example"]);
    const { id } = await saved({ conditions: all(["email", "contains", "a"]) }, lists.offers);
    const { id: within } = await saved({ conditions: all(["segment", "is_in", id]) });
    const { id: without } = await saved({ conditions: all(["segment", "is_not_in", id]) });
    const { id: elsewhere } = await saved({ conditions: all(["segment", "is_not_in", within]) });
    await database.run(sql`delete from segments where id = ${id}`);
    for (const one of [within, without, elsewhere]) {
      expect((await get(`${segmentsOf()}/${one}/subscribers`)).pagination.total).toBe(0);
    }
  });

  test("that lost a rule to a new type of its field: their negation matches nobody, indirect references included", async () => {
    await verifyShop(database, workspaceId);
    await addPeople(database, workspaceId, lists.news, [
      { email: "stop@x.example", custom_fields: { level: "7" } },
      { email: "go@x.example", custom_fields: { level: "8" } },
    ]);
    const fields = `/mailing-lists/${lists.news}/custom-fields`;
    const definition = { field_name: "level", field_label: "Level", field_type: "text" };
    const field = (await service.call("POST", fields, definition)).body.data;
    const { id: excluded } = await saved({ conditions: all(["level", "equals", "7"]) });
    const rest = await saved({ conditions: all(["segment", "is_not_in", excluded]) });
    const { id: around } = await saved({ conditions: all(["segment", "is_in", excluded]) });
    const farRest = await saved({ conditions: all(["segment", "is_not_in", around]) });
    const [{ subscriber_id }] = (await get(`/mailing-lists/${lists.news}/subscribers?search=go@x`))
      .subscribers;
    const sizes = async ({ id, conditions }: { id: string; conditions: object }) => {
      const campaign = { name: "June", subject: "News", from_email: "news@shop.test", segment_id: id };
      const theirs: { id: string }[] = await get(`/subscribers/${subscriber_id}/segments`);
      return [
        await count(conditions),
        (await get(`${segmentsOf()}/${id}/subscribers`)).pagination.total,
        theirs.filter((one) => one.id === id).length,
        (await service.call("POST", "/campaigns", campaign)).body.data.total_recipients,
      ];
    };
    expect([await sizes(rest), await sizes(farRest)]).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ]);
    const changed = await service.call("PUT", `${fields}/${field.id}`, { field_type: "number" });
    expect(changed.status, changed.body.error).toBe(200);
    expect([await sizes(rest), await sizes(farRest)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test("two concurrent changes cannot create a circle", async () => {
    const { id: a } = await saved({ conditions: all(["email", "contains", "a"]) });
    const { id: b } = await saved({ conditions: all(["email", "contains", "a"]) });
    const refer = (from: string, to: string) =>
      service.call("PUT", `${segmentsOf()}/${from}`, { conditions: all(["segment", "is_in", to]) });
    const answers = await Promise.all([refer(a, b), refer(b, a)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
  });
});
