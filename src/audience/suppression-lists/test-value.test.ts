import { describe, expect, it, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { suppressionService } from "#test/support/suppression.ts";

const { database, workspaceId, call, create, add, valuesOf, ask } = await suppressionService();

describe("the test of a value", () => {
  it("says whether, and why", async () => {
    const { id } = await create({ name: "Former customers" });
    await add(id, "Ada@example.com\n@example.org");
    expect(await ask(id, " ADA@EXAMPLE.COM ")).toMatchObject({
      data: {
        suppressed: true,
        test_value: " ADA@EXAMPLE.COM ",
        reason: "manual",
        list_name: "Former customers",
      },
      message: expect.stringContaining("is suppressed by Former customers (manual)"),
    });
    expect((await ask(id, "bob@example.org")).data).toMatchObject({ suppressed: true, reason: "domain" });
    expect((await ask(id, "example.org")).data).toMatchObject({ suppressed: true, reason: "domain" });
    expect((await ask(id, "bob@mail.example.org")).data).toMatchObject({ suppressed: false, reason: null });
    expect((await ask(id, "example.com")).data).toMatchObject({ suppressed: false });
    await call("PUT", `/suppression-lists/${id}`, { is_active: false });
    expect((await ask(id, "ada@example.com")).data).toMatchObject({ suppressed: false, reason: null });
  });

  it("refuses a value that is neither an address nor a domain", async () => {
    const { id } = await create();
    const { details } = await ask(id, "nobody");
    expect(details).toMatchObject([{ field: "test_value" }]);
    const pattern = await ask(id, "*@wild.example");
    expect(pattern.error).toBe(
      "test_value must be an address or a domain (for the whole domain write @wild.example)",
    );
  });
});

test("a suppressed person joins a list with a warning, and their detail names the suppression lists", async () => {
  const [news, other] = [await newList(database, workspaceId, "News"), await newList(database, workspaceId)];
  const global = await create({ name: "Global" });
  const ofNews = await create({ suppression_scope: "mailing_list", mailing_list_id: news });
  const inactive = await create({ is_active: false });
  for (const { id } of [global, inactive]) await add(id, "Grace@navy.example");
  await add(ofNews.id, "hopper.example");
  const join = (list: string, email: string) => call("POST", `/mailing-lists/${list}/subscribers`, { email });

  const grace = await join(other, "grace@NAVY.example");
  expect([grace.status, grace.body.data.warnings]).toEqual([201, ["suppressed"]]);
  expect((await join(other, "ada@hopper.example")).body.data.warnings).toEqual([]);
  expect((await join(news, "ada@hopper.example")).body.data.warnings).toEqual(["suppressed"]);
  const { suppressions } = (await call("GET", `/subscribers/${grace.body.data.subscriber_id}`)).body.data;
  expect(suppressions).toEqual([
    {
      suppression_list_id: global.id,
      suppression_list_name: "Global",
      suppression_scope: "global",
      reason: "manual",
      created_at: expect.any(String),
    },
  ]);
  await call("DELETE", `/mailing-lists/${other}/subscribers/${grace.body.data.subscriber_id}`);
  expect(await valuesOf(global.id)).toEqual(["grace@navy.example"]);
});
