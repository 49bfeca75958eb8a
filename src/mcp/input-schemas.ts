/** The JSON Schema of a tool's input: the ids of the path, the query, the fields of the body, and two headers. */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { nounOf } from "#platform/http/openapi.ts";
import { Components, type Json } from "#platform/http/openapi-components.ts";
import { isRequired } from "#platform/http/request/query.ts";

/** Inputs that are sent as headers. */
export const IDEMPOTENCY_KEY = "idempotency_key";
export const IF_MATCH = "if_match";

const idempotencyKey = {
  type: "string",
  maxLength: 256,
  description:
    "Any text: a repeated call with the same key and the same input does nothing again, and gets the first answer.",
};
const ifMatch = {
  type: "string",
  description:
    "`etag` of the answer that you have seen: if the resource was changed since, nothing is done. Without it the last writer wins.",
};

/** The names of the ids in a path. */
export function idsIn(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}

export class InputSchemas {
  readonly #components = new Components();

  /** @param endpoints all of the API: a shape may refer to one of another endpoint */
  constructor(endpoints: readonly Endpoint[]) {
    for (const { body } of endpoints) this.#components.schema(body);
  }

  /** @throws Error if two fields have the same name */
  of(endpoint: Endpoint): Tool["inputSchema"] {
    const { path, query = {}, idempotent, conditional } = endpoint;
    const ids = idsIn(path).map((name) => {
      const description = `Id of the ${nounOf(path, name)}.`;
      return [name, { type: "string", format: "uuid", description }, true] as const;
    });
    const inQuery = Object.entries(query).map(
      ([name, field]) => [name, this.#plain(field.schema), isRequired(field, name)] as const,
    );
    const body = this.#bodyOf(endpoint);
    const needed = new Set(endpoint.bodyMayBeAbsent ? [] : (body.required ?? []));
    const inBody = Object.entries(body.properties ?? {}).map(
      ([name, shape]) => [name, shape, needed.has(name)] as const,
    );
    const inHeaders = [
      ...(idempotent ? [[IDEMPOTENCY_KEY, idempotencyKey, false] as const] : []),
      ...(conditional ? [[IF_MATCH, ifMatch, false] as const] : []),
    ];
    const fields = [...ids, ...inQuery, ...inBody, ...inHeaders];
    const properties = Object.fromEntries(fields.map(([name, shape]) => [name, shape as object]));
    if (Object.keys(properties).length < fields.length) {
      throw new Error(`${endpoint.id} has two fields of the same name in path, query and body`);
    }
    const required = fields.filter(([, , isNeeded]) => isNeeded).map(([name]) => name);
    return { type: "object", properties, ...(required.length > 0 && { required }) };
  }

  #bodyOf({ body }: Endpoint): { properties?: Json; required?: readonly string[] } {
    return body === undefined ? {} : (this.#plain(body) as Json);
  }

  #plain(shape: unknown): unknown {
    return this.#inlined(this.#components.schema(shape), []);
  }

  /** The schema without references, which not every assistant follows. @param within the components around it */
  #inlined(schema: unknown, within: readonly string[]): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.#inlined(part, within));
    if (typeof schema !== "object" || schema === null) return schema;
    const { $ref, ...own } = schema as Record<string, unknown>;
    const plain = Object.fromEntries(
      Object.entries(own).map(([name, part]) => [name, this.#inlined(part, within)]),
    );
    if (typeof $ref !== "string") return plain;
    const name = $ref.split("/").at(-1) ?? "";
    if (within.includes(name)) return { type: "object", description: `Another one of this shape (${name}).` };
    return { ...(this.#inlined(this.#components.schemas[name], [...within, name]) as object), ...plain };
  }
}
