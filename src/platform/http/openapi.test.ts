import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { invalid } from "#platform/errors.ts";
import { Id } from "#platform/shapes.ts";
import { type Endpoint, endpoint, need, type Resource } from "./endpoint.ts";
import { openApiDocument } from "./openapi.ts";
import { choiceField, pageFields, type QueryField } from "./request/query.ts";
import { FileAnswer, fileShape } from "./response/file-answer.ts";

const requiredTerm: QueryField<string> = {
  schema: Type.String({ description: "What to look for." }),
  read(text) {
    if (text === undefined) throw invalid({ field: "term", message: "term is required" });
    return text;
  },
};
const things: Resource = { name: "things", label: "Things", group: "Group" };
const Colour = Type.Object({ name: Type.String() }, { $id: "Colour" });
const Thing = Type.Object({ id: Id, colours: Type.Array(Colour) }, { $id: "Thing" });
const ThingInput = Type.Object({ colour: Type.Optional(Colour) });

const listThings = endpoint({
  id: "listThings",
  method: "GET",
  path: "/things",
  summary: "All things",
  needs: need(things, "read"),
  query: { state: choiceField(["new", "old"], "Only in this state."), ...pageFields() },
  answer: Type.Array(Thing),
  message: "Things",
  handle: async () => [],
});
const createThing = endpoint({
  id: "createThing",
  method: "POST",
  path: "/things",
  summary: "Make a thing",
  needs: need(things, "write"),
  body: ThingInput,
  answer: Thing,
  status: 201,
  message: () => "Made",
  idempotent: true,
  errors: ["PLAN_LIMIT_REACHED"],
  handle: async () => ({ id: "", colours: [] }),
});
const exportThing = endpoint({
  id: "exportThing",
  method: "GET",
  path: "/things/{id}/export",
  summary: "A thing as CSV",
  needs: need(things, "read"),
  answer: fileShape("text/csv", "Its rows."),
  handle: async () => new FileAnswer("thing.csv", process.stdin),
});
const anybody = endpoint({
  id: "getKinds",
  method: "GET",
  path: "/things/kinds",
  summary: "Kinds",
  needs: "authenticated",
  answer: Type.Array(Type.String()),
  message: "Kinds",
  handle: async () => [],
});

const findThing = endpoint({
  id: "findThing",
  method: "GET",
  path: "/find",
  summary: "Find",
  needs: need(things, "read"),
  query: { term: requiredTerm, state: choiceField(["new", "old"], "Only in this state.") },
  answer: Thing,
  message: "Thing",
  handle: async () => ({ id: "", colours: [] }),
});
const changeMe = endpoint({
  id: "changeMe",
  method: "PUT",
  path: "/me",
  summary: "Change me",
  needs: "signed in",
  body: ThingInput,
  answer: Thing,
  message: "Changed",
  handle: async () => ({ id: "", colours: [] }),
});
const open = endpoint({
  id: "openDoor",
  method: "POST",
  path: "/door",
  summary: "Open",
  needs: "public",
  answer: Thing,
  message: "Open",
  handle: async () => ({ id: "", colours: [] }),
});

const documentOf = (...endpoints: Endpoint[]) =>
  JSON.parse(JSON.stringify(openApiDocument(endpoints, { version: "1.2.3" })));
const document = documentOf(listThings, createThing, exportThing, anybody);
const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

describe("openapi.json", () => {
  it("has an operation for each endpoint, with its permission", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.2.3");
    expect(Object.keys(document.paths)).toEqual(["/things", "/things/{id}/export", "/things/kinds"]);
    expect(document.paths["/things"].get).toMatchObject({
      operationId: "listThings",
      summary: "All things",
      tags: ["Things"],
      "x-permission": "things:read",
    });
    expect(document.paths["/things/kinds"].get).toMatchObject({
      "x-permission": "authenticated",
      tags: ["Things"],
    });
  });

  it("moves shapes with an $id into components, nested ones too", () => {
    const { schema } = document.paths["/things"].get.responses["200"].content["application/json"];
    expect(schema.properties.data).toMatchObject({ type: "array", items: ref("schemas", "Thing") });
    expect(document.components.schemas.Thing.properties.colours.items).toEqual(ref("schemas", "Colour"));
    expect(JSON.stringify(document)).not.toContain("$id");
  });

  it("refuses two different shapes with one $id", () => {
    const other = { ...anybody, answer: Type.Object({ other: Type.String() }, { $id: "Thing" }) };
    expect(() => documentOf(listThings, other)).toThrow("two shapes have the $id Thing");
  });

  it("describes parameters: path ids, query fields, the Idempotency-Key", () => {
    const [state, page, limit] = document.paths["/things"].get.parameters;
    expect(state).toEqual({
      name: "state",
      in: "query",
      required: false,
      description: "Only in this state.",
      schema: { type: "string", enum: ["new", "old"] },
    });
    expect(page).toMatchObject({ name: "page", schema: { type: "integer", default: 1 } });
    expect(limit).toMatchObject({ name: "limit", schema: { maximum: 200, default: 50 } });
    expect(document.paths["/things/{id}/export"].get.parameters[0]).toEqual({
      name: "id",
      in: "path",
      required: true,
      description: "Id of the thing, a UUID.",
      schema: { type: "string", format: "uuid" },
    });
    expect(document.paths["/things"].post.parameters).toEqual([
      ref("parameters", "Workspace"),
      ref("parameters", "IdempotencyKey"),
    ]);
  });

  it("requires the query parameters without which a request is refused", () => {
    const { parameters } = documentOf(findThing).paths["/find"].get;
    const required = parameters.filter((one: { in?: string }) => one.in === "query");
    expect(required).toMatchObject([
      { name: "term", required: true },
      { name: "state", required: false },
    ]);
  });

  it("takes a key, or a session with its workspace; by people, a session alone", () => {
    const every = documentOf(listThings, exportThing, changeMe, open);
    expect(every.security).toEqual([{ apiKey: [] }, { session: [] }, { sessionOverHttp: [] }]);
    expect(every.components.securitySchemes).toMatchObject({
      session: { in: "cookie", name: "__Host-posthaste" },
      sessionOverHttp: { in: "cookie", name: "posthaste" },
    });
    const named = (operation: { parameters: { $ref?: string }[] }) =>
      operation.parameters.flatMap(({ $ref }) => $ref?.split("/").at(-1) ?? []);
    expect(named(every.paths["/things"].get)).toEqual(["Workspace"]);
    expect(named(every.paths["/things/{id}/export"].get)).toEqual(["WorkspaceInQuery", "Workspace"]);
    expect(named(every.paths["/me"].put)).toEqual([]);
    expect(every.paths["/me"].put.security).toEqual([{ session: [] }, { sessionOverHttp: [] }]);
    expect(every.paths["/door"].post.security).toEqual([]);
  });

  it("has samples that authenticate as their operation demands", () => {
    const example = { ids: [], query: "?term=red" };
    const examples = { findThing: example, changeMe: { ids: [], body: {} }, openDoor: { ids: [] } };
    const { paths } = JSON.parse(
      JSON.stringify(openApiDocument([findThing, changeMe, open], { version: "1", examples })),
    );
    const sampleOf = (operation: { "x-codeSamples": [{ source: string }] }) =>
      operation["x-codeSamples"][0].source.split(" \\\n  ");
    expect(sampleOf(paths["/find"].get)).toEqual([
      "curl 'https://mail.example.com/api/v1/find?term=red'",
      '-H "X-API-Key: $POSTHASTE_API_KEY"',
    ]);
    expect(sampleOf(paths["/me"].put)).toEqual([
      "curl -X PUT 'https://mail.example.com/api/v1/me'",
      "-b cookies -c cookies",
      '-H "Sec-Fetch-Site: same-origin"',
      '-H "Content-Type: application/json"',
      "-d '{}'",
    ]);
    expect(sampleOf(paths["/door"].post)).toEqual([
      "curl -X POST 'https://mail.example.com/api/v1/door'",
      "-b cookies -c cookies",
    ]);
  });

  it("answers with the envelope, under the declared status, or with a file", () => {
    const { responses, requestBody } = document.paths["/things"].post;
    expect(requestBody.content["application/json"].schema.properties.colour).toEqual(
      ref("schemas", "Colour"),
    );
    expect(responses["201"].content["application/json"].schema).toMatchObject({
      type: "object",
      required: ["success", "data", "message"],
      properties: {
        success: { const: true },
        data: ref("schemas", "Thing"),
        message: { type: "string" },
        warnings: ref("schemas", "IgnoredNames"),
      },
    });
    expect(document.paths["/things/{id}/export"].get.responses["200"].content).toEqual({
      "text/csv": { schema: { type: "string", description: "Its rows." } },
    });
  });

  it("lists the possible errors by status", () => {
    const namesOf = (operation: { responses: Record<string, { $ref?: string }> }) =>
      Object.values(operation.responses).flatMap(({ $ref }) => ($ref ? [$ref.split("/").at(-1)] : []));
    expect(namesOf(document.paths["/things"].post)).toEqual([
      "VALIDATION_ERROR",
      "UNAUTHORIZED",
      "PLAN_LIMIT_REACHED",
      "FORBIDDEN_or_INSUFFICIENT_SCOPE_or_SECOND_FACTOR_REQUIRED_or_SERVICE_SUSPENDED",
      "VALIDATION_ERROR_408",
      "CONFLICT",
      "PAYLOAD_TOO_LARGE",
      "RATE_LIMIT_EXCEEDED",
      "INTERNAL_ERROR",
      "INTERNAL_ERROR_503",
    ]);
    expect(namesOf(document.paths["/things/{id}/export"].get)).toContain("NOT_FOUND");
    expect(namesOf(document.paths["/things/kinds"].get)).not.toContain("INSUFFICIENT_SCOPE");
    const { headers } = document.components.responses.RATE_LIMIT_EXCEEDED;
    expect(Object.keys(headers)).toEqual([
      "X-Request-Id",
      "RateLimit-Limit",
      "RateLimit-Remaining",
      "RateLimit-Reset",
      "Retry-After",
    ]);
  });
});
