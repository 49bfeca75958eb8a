/**
 * Generates openapi.json (OpenAPI 3.1) from the endpoints. Their shapes are JSON Schema, and envelope, headers and errors are
 * the same for all. A shape with an `$id` becomes a component.
 */
import type { TSchema } from "typebox";
import { type ErrorCode, errorTable } from "#platform/errors.ts";
import { type Endpoint, permissionOf } from "./endpoint.ts";
import { errorCodesOf } from "./endpoint-error-codes.ts";
import { MOST_IGNORED } from "./request/unknown-fields.ts";
import { fileFieldOf } from "./request/uploads.ts";
import { mediaTypeOf } from "./response/file-answer.ts";
import { API_PREFIX } from "./server.ts";

type Json = Readonly<Record<string, unknown>>;

/** The same endpoints always give the same document. @throws Error if two different shapes have the same `$id` */
export function openApiDocument(endpoints: readonly Endpoint[], { version }: { version: string }): Json {
  const components = new Components();
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    Object.assign(paths[endpoint.path] ?? {}, {
      [endpoint.method.toLowerCase()]: operation(endpoint, tagOf(endpoint, endpoints), components),
    });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Posthaste",
      version,
      summary: "Email delivery and audience service",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: API_PREFIX, description: "This service" }],
    security: [{ apiKey: [] }],
    tags: tagsOf(endpoints),
    "x-tagGroups": tagGroups(endpoints),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "A key of one workspace: `efk_…`",
        },
      },
      parameters: { IdempotencyKey: idempotencyKey },
      headers: rateHeaders,
      responses: components.responses,
      schemas: components.schemas,
    },
  };
}

const introduction = `Every response is \`{ success: true, data, message }\` (with \`warnings\` if fields of the request were ignored) or \`{ success: false, error, code }\`.
Send the API key of a workspace in \`X-API-Key\`. The permission that an operation requires is its \`x-permission\`.
Times are ISO 8601 in UTC, ids are UUIDs (in any case in requests), lists are newest first. Every response has \`X-Request-Id\`.`;

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "For 24 hours, a request with the same key and the same body gets the first response again, with `Idempotent-Replayed: true`.",
  schema: { type: "string", minLength: 1, maxLength: 256, pattern: "^[!-~]+$" },
};

const numberHeader = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } });
const rateHeaders = {
  "RateLimit-Limit": numberHeader("Largest burst of requests."),
  "RateLimit-Remaining": numberHeader("Requests that are left now."),
  "RateLimit-Reset": numberHeader("Seconds until the whole burst is available again."),
  "Retry-After": numberHeader("Seconds to wait before the next request."),
};

const namedSentence = {
  type: "object",
  required: ["field", "message"],
  properties: { field: { type: "string" }, message: { type: "string" } },
};

const failureSchema = {
  type: "object",
  required: ["success", "error", "code"],
  properties: {
    success: { const: false },
    error: { type: "string", description: "Message for people; do not parse it." },
    code: { enum: Object.keys(errorTable) },
    details: {
      type: "array",
      description: "The invalid fields.",
      items: namedSentence,
    },
    required_scopes: {
      type: "array",
      description: "With INSUFFICIENT_SCOPE: the permissions that the key lacks.",
      items: { type: "string" },
    },
  },
};

const nextCursor = {
  type: ["string", "null"],
  description: "Value for `after`; null if there are no more rows.",
};

const ignoredNames = {
  type: "array",
  description:
    "Unknown fields and query parameters of the request, which were ignored. Absent if there are none.",
  maxItems: MOST_IGNORED,
  items: namedSentence,
};

/** Components that operations share, collected while the operations are generated. */
class Components {
  readonly schemas: Record<string, unknown> = { Failure: failureSchema, IgnoredNames: ignoredNames };
  readonly responses: Record<string, Json> = {};

  /** The shape, with every part that has an `$id` replaced by a reference to a component. */
  schema(shape: unknown): unknown {
    if (Array.isArray(shape)) return shape.map((part) => this.schema(part));
    if (typeof shape !== "object" || shape === null) return shape;
    const { $id, ...rest } = shape as Record<string, unknown>;
    const plain = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, this.schema(part)]));
    if (typeof $id !== "string") return plain;
    const known = this.schemas[$id];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(plain)) {
      throw new Error(`two shapes have the $id ${$id}`);
    }
    this.schemas[$id] = plain;
    return { $ref: `#/components/schemas/${$id}` };
  }

  /** A reference to the error response with these codes, which have the same status. */
  refusal(codes: readonly ErrorCode[]): Json {
    const name = codes.join("_or_");
    this.responses[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${errorTable[code].text}.`).join("\n\n"),
      ...(codes.includes("RATE_LIMIT_EXCEEDED") && {
        headers: Object.fromEntries(
          Object.keys(rateHeaders).map((header) => [header, { $ref: `#/components/headers/${header}` }]),
        ),
      }),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

function operation(endpoint: Endpoint, tag: string, components: Components): Json {
  const { needs } = endpoint;
  const permission = typeof needs === "string" ? needs : permissionOf(needs);
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: typeof needs === "string" ? openTo[needs] : `Needs the permission \`${permission}\`.`,
    tags: [tag],
    "x-permission": permission,
    parameters: parametersOf(endpoint, components),
    ...(endpoint.body && {
      requestBody: {
        required: !endpoint.bodyMayBeAbsent,
        content: { [mediaTypeOfBody(endpoint.body)]: { schema: components.schema(bodyOf(endpoint)) } },
      },
    }),
    responses: responsesOf(endpoint, components),
  };
}

/**
 * The shape of the body. A field of a form that is also a query parameter is left out: generators of clients make
 * arguments of one function out of both, and two with the same name are not valid code.
 */
function bodyOf({ body, query = {} }: Endpoint): unknown {
  if (body === undefined || fileFieldOf(body) === undefined) return body;
  const { properties = {}, ...rest } = body as TSchema & { properties?: Record<string, TSchema> };
  const others = Object.entries(properties).filter(([name]) => !Object.hasOwn(query, name));
  return { ...rest, properties: Object.fromEntries(others) };
}

const openTo = {
  authenticated: "Any valid key, and any member of the workspace, may call this.",
  "signed in": "For people who are signed in. API keys cannot call this.",
  operator: "For people who operate the installation. API keys cannot call this.",
  public: "Needs no authentication.",
};

function mediaTypeOfBody(body: TSchema): string {
  return fileFieldOf(body) === undefined ? "application/json" : "multipart/form-data";
}

function parametersOf(endpoint: Endpoint, components: Components): unknown[] {
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", format: "uuid" },
  }));
  const inQuery = Object.entries(endpoint.query ?? {}).map(([name, { schema }]) => {
    const { description, ...rest } = schema as TSchema & { description?: string };
    return { name, in: "query", required: false, description, schema: components.schema(rest) };
  });
  const inHeader = endpoint.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [];
  return [...inPath, ...inQuery, ...inHeader];
}

function responsesOf(endpoint: Endpoint, components: Components): Json {
  const codesByStatus = Object.groupBy(errorCodesOf(endpoint), (code) => errorTable[code].status);
  const refusals = Object.entries(codesByStatus).map(([status, codes]) => [
    status,
    components.refusal(codes),
  ]);
  return { [endpoint.status ?? 200]: success(endpoint, components), ...Object.fromEntries(refusals) };
}

function success({ answer, summary, message, isContinued }: Endpoint, components: Components): Json {
  const mediaType = mediaTypeOf(answer);
  if (mediaType !== undefined) {
    return { description: summary, content: { [mediaType]: { schema: { type: "string" } } } };
  }
  return {
    description: typeof message === "string" ? message : summary,
    content: {
      "application/json": {
        schema: {
          type: "object",
          required: ["success", "data", "message", ...(isContinued ? ["next_cursor"] : [])],
          properties: {
            success: { const: true },
            data: components.schema(answer),
            ...(isContinued && { next_cursor: nextCursor }),
            message: { type: "string" },
            warnings: { $ref: "#/components/schemas/IgnoredNames" },
          },
        },
      },
    },
  };
}

/** Tags of operations without a permission. */
const ACCOUNT_TAG = "Sign-in and account";
const OPERATOR_TAG = "Operation of the installation";

/** The label of the resource. An endpoint for any key gets that of an endpoint with the same first part of the path. */
function tagOf({ needs, path }: Endpoint, endpoints: readonly Endpoint[]): string {
  if (typeof needs !== "string") return needs.resource.label;
  if (needs !== "authenticated") return needs === "operator" ? OPERATOR_TAG : ACCOUNT_TAG;
  const area = path.split("/")[1];
  const neighbour = endpoints.find(
    (other) => typeof other.needs !== "string" && other.path.split("/")[1] === area,
  );
  return neighbour ? tagOf(neighbour, endpoints) : "General";
}

function resourcesOf(endpoints: readonly Endpoint[]) {
  const resources = endpoints.flatMap(({ needs }) => (typeof needs === "string" ? [] : [needs.resource]));
  return [...new Map(resources.map((resource) => [resource.name, resource])).values()];
}

function tagsOf(endpoints: readonly Endpoint[]): Json[] {
  return resourcesOf(endpoints).map(({ name, label }) => ({
    name: label,
    description: `Operations that require permissions on \`${name}\`.`,
  }));
}

function tagGroups(endpoints: readonly Endpoint[]): Json[] {
  const groups = Object.groupBy(resourcesOf(endpoints), ({ group }) => group);
  return Object.entries(groups).map(([name, resources = []]) => ({
    name,
    tags: resources.map(({ label }) => label),
  }));
}
