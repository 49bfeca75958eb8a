import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";
import type { PermissionCatalogue } from "./permission-catalogue.ts";

const service = await startService();

const catalogue: PermissionCatalogue = (await service.call("GET", "/api-keys/permissions")).body.data;
const values = catalogue.resources.flatMap(({ actions }) => actions.map(({ value }) => value));
const keys = new Map<string, string>();
for (const value of values) keys.set(value, await service.newKey([value]));

/** Whatever a handler that the scope let through says about an id that exists nowhere and a missing body. */
const outcome = async (method: string, path: string, permission: string) => {
  const { body } = await service.call(method, path.replaceAll(/\{\w+\}/g, newId), undefined, {
    key: keys.get(permission) ?? null,
  });
  return body.code === "INSUFFICIENT_SCOPE" ? body.required_scopes : "allowed";
};

const governed = service.api.endpoints.filter(
  ({ needs }) => typeof needs !== "string" && needs.judgedBy === "server",
);

test.each(governed.map(({ method, path }) => [method, path] as const))(
  "%s %s is open to one permission of a resource that covers it, and to no other",
  async (method, path) => {
    const outcomes = await Promise.all(values.map((value) => outcome(method, path, value)));
    const allowed = values.filter((_, index) => outcomes[index] === "allowed");
    expect(allowed).toHaveLength(1);
    const resource = catalogue.resources.find(({ actions }) =>
      actions.some(({ value }) => value === allowed[0]),
    );
    expect(resource?.covers).toContain(path);
    for (const refusal of outcomes) expect(["allowed", allowed]).toContainEqual(refusal);
  },
);

test("every path that the catalogue covers exists, and every governed path is covered", () => {
  const covered = catalogue.resources.flatMap(({ covers }) => covers);
  const paths = service.api.endpoints.flatMap(({ needs, path }) => (typeof needs === "string" ? [] : [path]));
  expect(new Set(covered)).toEqual(new Set(paths));
});
