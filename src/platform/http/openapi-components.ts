/** Components of openapi.json: schemas that operations share, and the responses to errors. */
import { type ErrorCode, errorTable } from "#platform/errors.ts";
import { DESCRIPTION_OF_USE, DOCUMENTED_AS } from "#platform/shapes.ts";
import { MOST_IGNORED } from "./request/unknown-fields.ts";

export type Json = Readonly<Record<string, unknown>>;

export const refTo = (kind: "headers" | "parameters" | "responses" | "schemas", name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

const numberHeader = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } });

export const headers = {
  "X-Request-Id": {
    description:
      "Id of the request: that of the request's own X-Request-Id, or a new one. Quote it to support.",
    schema: { type: "string" },
  },
  "RateLimit-Limit": numberHeader("Largest burst of requests."),
  "RateLimit-Remaining": numberHeader("Requests that are left now."),
  "RateLimit-Reset": numberHeader("Seconds until the whole burst is available again."),
  "Retry-After": numberHeader("Seconds to wait before the next request."),
  "Idempotent-Replayed": {
    description: "`true` if this is the stored response of an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  ETag: {
    description: "The version of the resource, for `If-Match`.",
    schema: { type: "string", examples: ['"7"'] },
  },
  "Content-Disposition": {
    description: "`attachment`, with the file's name.",
    schema: { type: "string" },
  },
} as const;

/** Headers that an operation reads. */
export const parameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`.",
    schema: { type: "string", minLength: 1, maxLength: 256, pattern: "^[!-~]+$" },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description:
      "The `ETag` of the version that the caller has seen: if the resource was changed since, nothing is done, and the response is 412 with the present version in `current`. Without it the last writer wins.",
    schema: { type: "string", maxLength: 1_000, examples: ['"7"'] },
  },
  Workspace: {
    name: "X-Workspace",
    in: "header",
    required: false,
    description:
      "With a session, required: the id of the workspace in which the person acts. An API key belongs to one workspace, and the header is not read.",
    schema: { type: "string", format: "uuid" },
  },
  WorkspaceInQuery: {
    name: "workspace",
    in: "query",
    required: false,
    description:
      "With a session, instead of `X-Workspace`: for links and event streams of a page, which cannot send a header.",
    schema: { type: "string", format: "uuid" },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description:
      "The `id` of the last event that was received: the stream continues there. Browsers send it by themselves.",
    schema: { type: "string", maxLength: 1_000 },
  },
} as const;

/** References to headers, for a response. */
export function headersNamed(...names: readonly (keyof typeof headers)[]): Json {
  return Object.fromEntries(names.map((name) => [name, refTo("headers", name)]));
}

const namedSentence = (what: string) => ({
  type: "object",
  required: ["field", "message"],
  properties: {
    field: { type: "string", description: `Path of the ${what}, such as \`attachments[0].content\`.` },
    message: { type: "string", description: "What is wrong, for people." },
  },
});

const failure = {
  type: "object",
  description: "The body of every error response.",
  required: ["success", "error", "code"],
  properties: {
    success: { const: false, type: "boolean", description: "False: the request failed." },
    error: { type: "string", description: "Message for people; do not parse it." },
    code: refTo("schemas", "ErrorCode"),
    details: {
      type: "array",
      description: "The invalid fields. Absent if the error concerns no field.",
      items: namedSentence("field"),
    },
    required_scopes: {
      type: "array",
      description: "With INSUFFICIENT_SCOPE: the permissions that the key, or the role of the person, lacks.",
      items: { type: "string" },
    },
    current: {
      type: "object",
      description: "With PRECONDITION_FAILED: the resource as it is now.",
    },
  },
};

const errorCode = {
  type: "string",
  description: "The kind of error, for programs.",
  enum: Object.keys(errorTable),
};

const ignoredNames = {
  type: "array",
  description:
    "Unknown fields and query parameters of the request, which were ignored. Absent if there are none.",
  maxItems: MOST_IGNORED,
  items: namedSentence("field or query parameter"),
};

/** Additional members of the example of an error. */
const exampleOf: Partial<Record<ErrorCode, Json>> = {
  VALIDATION_ERROR: {
    error: "email must not be empty",
    details: [{ field: "email", message: "email must not be empty" }],
  },
  INSUFFICIENT_SCOPE: { required_scopes: ["campaigns:write"] },
};

/** What the same code means with another status than that of the error table. */
const otherStatuses: Readonly<Record<number, { readonly text: string; readonly error: string }>> = {
  408: {
    text: "The body did not keep arriving; send the request again",
    error: "The request body did not arrive in time",
  },
  503: {
    text: "The service or its database is overloaded or unavailable. Wait for `Retry-After`, then send the request again, with the same `Idempotency-Key` if the operation takes one",
    error: "The database does not answer; retry shortly",
  },
};

/** Components, collected while the operations are generated. */
export class Components {
  readonly schemas: Record<string, Json> = {
    Failure: failure,
    ErrorCode: errorCode,
    IgnoredNames: ignoredNames,
  };
  readonly responses: Record<string, Json> = {};

  /**
   * The shape as the document shows it: a part that has an `$id` is a reference to a component.
   * @throws Error if two different shapes have the same `$id`
   */
  schema(shape: unknown): unknown {
    if (Array.isArray(shape)) return shape.map((part) => this.schema(part));
    if (typeof shape !== "object" || shape === null) return shape;
    const {
      $id,
      [DESCRIPTION_OF_USE]: use,
      [DOCUMENTED_AS]: documented,
      ...own
    } = shape as Record<string, unknown>;
    const { description } = own;
    const rest =
      documented === undefined ? own : { ...documented, ...(description !== undefined && { description }) };
    const plain = shortened(
      Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, this.schema(part)])),
    );
    if (typeof $id !== "string") return plain;
    const known = this.schemas[$id];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(plain)) {
      throw new Error(`two shapes have the $id ${$id}`);
    }
    this.schemas[$id] = plain;
    const reference = refTo("schemas", $id);
    return use === undefined ? reference : { ...reference, description: use };
  }

  /** A reference to the error response with these codes. @param status replaces that of the error table */
  refusal(codes: readonly ErrorCode[], status?: number): Json {
    const other = status === undefined ? undefined : otherStatuses[status];
    const name = [...codes, ...(other ? [status] : [])].join(other ? "_" : "_or_");
    const isWait =
      codes.includes("RATE_LIMIT_EXCEEDED") || (other !== undefined && codes.includes("INTERNAL_ERROR"));
    this.responses[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${other?.text ?? errorTable[code].text}.`).join("\n\n"),
      headers: headersNamed(
        "X-Request-Id",
        "RateLimit-Limit",
        "RateLimit-Remaining",
        "RateLimit-Reset",
        ...(isWait ? (["Retry-After"] as const) : []),
      ),
      content: {
        "application/json": {
          schema: refTo("schemas", "Failure"),
          examples: Object.fromEntries(
            codes.map((code) => {
              const text = other?.error ?? errorTable[code].text;
              const more = other ? {} : exampleOf[code];
              return [code, { summary: text, value: { success: false, error: text, code, ...more } }];
            }),
          ),
        },
      },
    };
    return refTo("responses", name);
  }
}

/**
 * The schema without the detours of TypeBox: a value that may be null has two types instead of two alternatives, and an
 * enumeration names its type.
 */
function shortened(schema: Record<string, unknown>): Record<string, unknown> {
  const { anyOf, ...rest } = schema;
  if (Array.isArray(anyOf) && anyOf.length === 2 && anyOf[1]?.type === "null") {
    const [{ type, ...value }] = anyOf as [Record<string, unknown>];
    if (typeof type !== "string" || "const" in value) return schema;
    const words = Array.isArray(value.enum) ? { enum: [...value.enum, null] } : {};
    return { type: [type, "null"], ...value, ...words, ...rest };
  }
  const typed = (value: unknown) => {
    if ("type" in schema) return schema;
    const type = Number.isInteger(value) ? "integer" : typeof value;
    return ["string", "boolean", "integer", "number"].includes(type) ? { type, ...schema } : schema;
  };
  if ("const" in schema) return typed(schema.const);
  if (!Array.isArray(schema.enum)) return schema;
  const [first, ...others] = schema.enum;
  return others.every((other) => typeof other === typeof first) ? typed(first) : schema;
}
