/** Promises of openapi.json to its readers and to generators of clients. `npm run generate` writes it. */
import { expect, it } from "vitest";
import { EVENT_STREAM } from "#platform/http/response/event-stream.ts";
import { endpointsForDocs } from "#processes/api.ts";
import document from "../openapi.json" with { type: "json" };

type Node = Readonly<Record<string, unknown>>;

const schemas = document.components.schemas as Readonly<Record<string, Node>>;
const endpoints = endpointsForDocs();
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

interface Documented {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Node[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Node>> };
  readonly responses: Readonly<Record<string, Node & { readonly content?: Readonly<Record<string, Node>> }>>;
}

const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((path) =>
  Object.values(path as unknown as Readonly<Record<string, Documented>>),
);

/** The schemas of the document, each with its place: components, bodies and answers. */
const roots: readonly (readonly [place: string, schema: unknown])[] = [
  ...Object.entries(schemas),
  ...operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody ?? {}, ...Object.values(responses)].flatMap(({ content = {} }) =>
      Object.values(content as Node).map(
        (media) => [operationId, isNode(media) ? media.schema : undefined] as const,
      ),
    ),
  ),
];

/** Every field of the schema and of those within it, without following references. */
function* fieldsOf(place: string, schema: unknown): Generator<readonly [place: string, field: Node]> {
  if (!isNode(schema)) return;
  for (const [name, field] of Object.entries(isNode(schema.properties) ? schema.properties : {})) {
    if (isNode(field)) yield [`${place}.${name}`, field];
    yield* fieldsOf(`${place}.${name}`, field);
  }
  for (const keyword of ["items", "additionalProperties"]) yield* fieldsOf(`${place}[]`, schema[keyword]);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    const parts = schema[keyword];
    for (const part of Array.isArray(parts) ? parts : []) yield* fieldsOf(place, part);
  }
}

function isDescribed(field: Node): boolean {
  const component = typeof field.$ref === "string" ? schemas[field.$ref.split("/").at(-1) ?? ""] : undefined;
  return typeof (field.description ?? component?.description) === "string";
}

it("every field of every body, answer and event has a description", () => {
  const bare = roots
    .flatMap(([place, schema]) => [...fieldsOf(place, schema)])
    .filter(([, field]) => !isDescribed(field))
    .map(([place]) => place);
  expect(bare).toEqual([]);
});

it("every parameter and every status has a description", () => {
  const shared: Readonly<Record<string, Node>> = {
    ...document.components.parameters,
    ...document.components.responses,
  };
  const meant = (part: Node) =>
    typeof part.$ref === "string" ? shared[part.$ref.split("/").at(-1) ?? ""] : part;
  const bare = operations.flatMap(({ operationId, parameters, responses }) =>
    [...parameters, ...Object.values(responses)]
      .filter((part) => !meant(part)?.description)
      .map((part) => [operationId, part]),
  );
  expect(bare).toEqual([]);
});

it("every endpoint has a description in sentences", () => {
  const bare = endpoints.filter(({ description }) => !description?.endsWith(".")).map(({ id }) => id);
  expect(bare).toEqual([]);
});

it("operation ids are unique, and begin with a small letter as methods of clients do", () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
});

it("every operation has one tag, which is described and in one group", () => {
  const described = document.tags.filter(({ description }) => description !== "").map(({ name }) => name);
  const grouped = document["x-tagGroups"].flatMap(({ tags }) => tags);
  expect(grouped.toSorted()).toEqual([...new Set(grouped)].toSorted());
  for (const { tags } of operations) {
    expect(tags).toHaveLength(1);
    expect(described).toContain(tags[0]);
    expect(grouped).toContain(tags[0]);
  }
});

it("every body and every successful answer has an example (if not: npm test -- test/openapi-examples.test.ts -u)", () => {
  const declared = new Set(endpoints.map(({ id }) => id));
  const bare = operations
    .filter(({ operationId }) => declared.has(operationId))
    .flatMap(({ operationId, requestBody, responses }) => {
      const statuses = Object.keys(responses).filter((status) => status.startsWith("2"));
      const success = responses[statuses.at(-1) ?? ""];
      const media = [requestBody, success]
        .flatMap((part) => Object.entries(part?.content ?? {}))
        .filter(([type]) => type !== EVENT_STREAM)
        .map(([, content]) => content);
      return media.every(({ examples }) => examples) ? [] : [operationId];
    });
  expect(bare).toEqual([]);
});

it("the section webhooks has the body of every event", () => {
  const types = Object.keys(document.webhooks);
  expect(types).toContain("message.bounced");
  expect(schemas.MessageBouncedEvent?.properties).toMatchObject({
    type: { const: "message.bounced" },
    data: { properties: { bounce_type: { type: "string" } } },
  });
});
