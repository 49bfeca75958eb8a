import { Type } from "typebox";
import { expect, test } from "vitest";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { catalogueOf, permissionValues, readPermissions } from "./permission-catalogue.ts";

const cats = { name: "cats", label: "Cats", group: "Animals" };
const owls = { name: "owls", label: "Owls", group: "Birds" };

const declare = (method: "GET" | "POST", path: string, needs: Endpoint["needs"]) =>
  endpoint({
    id: `${method} ${path}`,
    method,
    path,
    summary: "",
    needs,
    answer: Type.Null(),
    message: "",
    handle: async () => null,
  });

const catalogue = catalogueOf([
  declare("POST", "/owls/send", need(owls, "send")),
  declare("POST", "/cats/{id}/feed", need(cats, "write")),
  declare("GET", "/cats", need(cats, "read")),
  declare("POST", "/cats", need(cats, "write")),
  declare("GET", "/jobs", need(cats, "read", "handler")),
  declare("GET", "/public", "authenticated"),
]);

test("a resource lists the paths that need it and the actions that exist, nothing else", () => {
  expect(catalogue.resources).toEqual([
    {
      resource: "owls",
      label: "Owls",
      group: "Birds",
      wildcard: "owls:*",
      covers: ["/owls/send"],
      actions: [{ action: "send", label: "Send", value: "owls:send" }],
    },
    {
      resource: "cats",
      label: "Cats",
      group: "Animals",
      wildcard: "cats:*",
      covers: ["/cats", "/cats/{id}/feed", "/jobs"],
      actions: [
        { action: "read", label: "Read", value: "cats:read" },
        { action: "write", label: "Write", value: "cats:write" },
      ],
    },
    {
      resource: "mcp",
      label: "AI assistants (MCP)",
      group: "Account",
      wildcard: "mcp:*",
      covers: ["/owls/send"],
      actions: [{ action: "send", label: "Send, spend and confirm", value: "mcp:send" }],
    },
  ]);
});

test("the wildcards and presets of the contract are always there", () => {
  expect(catalogue.wildcards.map(({ value }) => value)).toEqual(["*:*", "*:read"]);
  expect(catalogue.presets).toMatchObject([
    { preset: "full", values: ["*:*"] },
    { preset: "read_only", values: ["*:read"] },
  ]);
});

test("permissions of the catalogue are taken in their order, repeated ones once", () => {
  expect([...permissionValues(catalogue)].sort()).toEqual(
    ["*:*", "*:read", "cats:*", "cats:read", "cats:write", "mcp:*", "mcp:send", "owls:*", "owls:send"].sort(),
  );
  expect(readPermissions(["cats:write", "*:read", "cats:write"], catalogue)).toEqual([
    "cats:write",
    "*:read",
  ]);
});

test.each(["*:write", "cats:send", "dogs:read", "*", "", "cats", "Cats:read", "cats:read ", "__proto__"])(
  "%j is refused by name",
  (value) => {
    expect(() => readPermissions(["cats:read", value], catalogue)).toThrow(JSON.stringify(value));
  },
);
