import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";
import { listStarters } from "./list-starters.ts";

const service = await startService();
const { call } = service;

test("there are twelve, each with a name and a purpose of its own", async () => {
  const { data } = (await call("GET", "/templates/starters")).body;
  expect(data).toEqual(listStarters());
  expect(new Set(data.map(({ name }: { name: string }) => name)).size).toBe(12);
});

test.each(listStarters().map((one) => [one.key, one] as const))(
  "%s becomes a template, shows all its values, and has nothing that a check calls an error",
  async (_key, { key: _own, description: _description, ...starter }) => {
    const made = await call("POST", "/templates", starter);
    expect(made.status, made.body.error).toBe(201);
    const { id: template_id, warnings, compiled_html } = made.body.data;
    expect(warnings).toEqual([]);
    // Pictures and fonts of other hosts would tell them who reads the mail.
    expect(compiled_html).not.toMatch(/<img|<link|@import|url\(/);
    const without = ["audience", "links", "images", "spam_score"];
    const check = (await call("POST", "/check", { template_id, without })).body.data;
    expect(check.findings.filter(({ severity }: { severity: string }) => severity === "error")).toEqual([]);
    expect(check.html_size).toBeLessThan(60_000);
    const mail = (await call("POST", "/render", { template_id })).body.data;
    expect(mail.subject).not.toMatch(/\{|undefined/);
    expect(mail.html).not.toMatch(/\{[{%]/);
    expect(mail.text.length).toBeGreaterThan(100);
  },
);
