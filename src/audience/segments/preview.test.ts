import { expect, test } from "vitest";
import { all, rule, segmentService } from "#test/support/segments.ts";

const { service, lists, segmentsOf, fill } = await segmentService();

const preview = (body: object, key?: string) =>
  service.call("POST", `${segmentsOf()}/preview`, body, key === undefined ? {} : { key });
const people = (count: number, domain: string) =>
  Array.from({ length: count }, (_, at) => `p${at}@${domain}`);

test("a preview without options has the count alone", async () => {
  await fill(people(3, "one.example"));
  const { body } = await preview({ conditions: all(["email", "contains", "p"]) });
  expect(body.data).toEqual({ subscriber_count: 3 });
});

test("samples are ten members who meet the conditions, newest first", async () => {
  await fill(people(12, "one.example"));
  await fill(people(12, "two.example"));
  const conditions = all(["email_domain", "equals", "one.example"]);
  const { body } = await preview({ conditions, samples: true });
  const { subscriber_count, samples } = body.data;
  expect([subscriber_count, samples.length]).toEqual([12, 10]);
  for (const one of samples) {
    expect(one).toMatchObject({
      email: expect.stringContaining("@one.example"),
      mailing_list_id: lists.news,
    });
  }
  const ids = samples.map((one: { subscriber_id: string }) => one.subscriber_id);
  expect(ids).toEqual(ids.toSorted().toReversed());
});

test("rules are counted alone, also those in groups, in their order", async () => {
  await fill([...people(3, "one.example"), ...people(2, "two.example"), "x@one.example"]);
  const conditions = {
    logic: "and",
    rules: [
      rule(["email_domain", "equals", "one.example"]),
      { logic: "or", rules: [rule(["email", "starts_with", "p"]), rule(["email", "starts_with", "nobody"])] },
    ],
  };
  const { body } = await preview({ conditions, rule_counts: true });
  expect(body.data).toEqual({
    subscriber_count: 3,
    rule_counts: [
      { path: "conditions.rules[0]", subscriber_count: 4 },
      { path: "conditions.rules[1].rules[0]", subscriber_count: 5 },
      { path: "conditions.rules[1].rules[1]", subscriber_count: 0 },
    ],
  });
});

test("samples need the permission to read subscribers; counts do not", async () => {
  const key = await service.newKey(["segments:read"]);
  const conditions = all(["email", "contains", "p"]);
  const refused = await preview({ conditions, samples: true }, key);
  expect([refused.status, refused.body.required_scopes]).toEqual([403, ["subscribers:read"]]);
  expect((await preview({ conditions, rule_counts: true }, key)).status).toBe(200);
});
