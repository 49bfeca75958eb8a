import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";
import { charactersOf } from "./render-templates.ts";
import { TemplateRenderer } from "./template-renderer.ts";

const service = await startService();
const { call, database } = service;
const renderer = new TemplateRenderer(database);

async function template(change: object, key?: string): Promise<string> {
  const body = { name: "Receipt", subject: "{{ at }}", html_content: "<p>{{ at }}</p>", ...change };
  const answer = await call("POST", "/templates", body, key === undefined ? {} : { key });
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id;
}
const mailsOf = (id: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    template: { id, variables: { at } },
    email: "ada@example.com",
    subject: null,
  }));
const caller = { workspaceId: service.workspaceId, timezone: "UTC" };

test("another workspace has its turn before all mails of a batch are rendered", async () => {
  const other = await service.newWorkspace();
  const [mine, theirs] = [(await template({})).toUpperCase(), await template({}, other.key)];
  const ended: string[] = [];
  const batch = renderer.render(caller, mailsOf(mine, 500)).finally(() => ended.push("batch"));
  const one = renderer
    .render({ workspaceId: other.workspaceId, timezone: "UTC" }, mailsOf(theirs, 1))
    .finally(() => ended.push("one"));
  const [rendered] = await Promise.all([batch, one]);
  expect(ended).toEqual(["one", "batch"]);
  expect(rendered.map((mail) => "html" in mail && mail.html)).toEqual(
    Array.from({ length: 500 }, (_, at) => `<p>${at}</p>`),
  );
});

test("the mails of a request have as many characters together as it could hold, in however many parts", async () => {
  const id = await template({ html_content: `<p>${"x".repeat(1_000_000)}</p>` });
  const rendered = await renderer.render(caller, mailsOf(id, 45));
  const sizes = rendered.map((mail) => ("html" in mail ? charactersOf(mail) : null));
  const [size = 0] = sizes.map(Number);
  const fitting = Math.floor(30_000_000 / size);
  expect(fitting).toBeGreaterThan(20);
  expect(sizes).toEqual(Array.from({ length: 45 }, (_, at) => (at < fitting ? size : null)));
});
