/**
 * Generates openapi.json (OpenAPI 3.1) from the endpoints. Their shapes are JSON Schema, and envelope, headers and errors are
 * the same for all. A shape with an `$id` becomes a component.
 */
import type { TSchema } from "typebox";
import { errorTable } from "#platform/errors.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { BODY_LIMIT, type Endpoint, permissionOf } from "./endpoint.ts";
import { errorCodesOf } from "./endpoint-error-codes.ts";
import { Components, headers, headersNamed, type Json, refTo } from "./openapi-components.ts";
import { fileFieldOf } from "./request/uploads.ts";
import { mediaTypeOf } from "./response/file-answer.ts";
import { API_PREFIX } from "./server.ts";

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
      headers,
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

const nextCursor = {
  type: ["string", "null"],
  description: "Value for `after`; null if there are no more rows.",
};

function operation(endpoint: Endpoint, tag: string, components: Components): Json {
  const { needs } = endpoint;
  const permission = typeof needs === "string" ? needs : permissionOf(needs);
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    tags: [tag],
    "x-permission": permission,
    parameters: parametersOf(endpoint, components),
    ...(endpoint.body && {
      requestBody: {
        required: !endpoint.bodyMayBeAbsent,
        content: { [mediaTypeOfBody(endpoint.body)]: { schema: components.schema(endpoint.body) } },
      },
    }),
    responses: responsesOf(endpoint, components),
  };
}

function descriptionOf({ description, summary, mayTakeLong, bodyLimit, needs }: Endpoint): string {
  return [
    description ?? `${summary}.`,
    bodyLimit !== undefined &&
      `The body, or the file of the form, may have ${bytesText(bodyLimit)} instead of ${bytesText(BODY_LIMIT)}.`,
    mayTakeLong === "reading" && "It may take longer than a few seconds if there is much data.",
    mayTakeLong === "asking others" && "It asks other servers, and may take longer than a few seconds.",
    typeof needs === "string" ? openTo[needs] : `Needs the permission \`${permissionOf(needs)}\`.`,
  ]
    .filter((part) => part !== false)
    .join("\n\n");
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
    description: `Id of the ${nounOf(endpoint.path, name ?? "")}, a UUID.`,
    schema: { type: "string", format: "uuid" },
  }));
  const inQuery = Object.entries(endpoint.query ?? {}).map(([name, { schema }]) => {
    const { description, ...rest } = schema as TSchema & { description?: string };
    return { name, in: "query", required: false, description, schema: components.schema(rest) };
  });
  const inHeader = endpoint.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [];
  return [...inPath, ...inQuery, ...inHeader];
}

/** What an id in a path belongs to, in words: the segment before it, in the singular. */
function nounOf(path: string, name: string): string {
  const segments = path.split("/");
  const before = segments[segments.indexOf(`{${name}}`) - 1] ?? "";
  const named = name === "id" ? before : name.replace(/_id$/, "");
  const words = named
    .replaceAll(/[-_]/g, " ")
    .replace(/ies$/, "y")
    .replace(/(?<!s)s$/, "");
  return words
    .replace(/^api\b/, "API")
    .replace(/^dkim$/, "DKIM key")
    .replace(/ ip$/, " IP address")
    .replace(/^field$/, "custom field");
}

function responsesOf(endpoint: Endpoint, components: Components): Json {
  const codesByStatus = Object.groupBy(errorCodesOf(endpoint), (code) => errorTable[code].status);
  const refusals: Record<string, Json> = Object.fromEntries(
    Object.entries(codesByStatus).map(([status, codes]) => [status, components.refusal(codes)]),
  );
  if (endpoint.body) refusals[408] = components.refusal(["VALIDATION_ERROR"], 408);
  refusals[503] = components.refusal(["INTERNAL_ERROR"], 503);
  const status = endpoint.status ?? 200;
  const hasDryRun = status === 201 && endpoint.query?.dry_run !== undefined;
  return {
    ...(hasDryRun && { 200: success(endpoint, components, "With `dry_run`: nothing was done") }),
    [status]: success(endpoint, components),
    ...refusals,
  };
}

function success(endpoint: Endpoint, components: Components, description?: string): Json {
  const { answer, summary, message, isContinued, idempotent } = endpoint;
  const usual = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;
  const mediaType = mediaTypeOf(answer);
  if (mediaType !== undefined) {
    const { description: content } = answer as TSchema & { description?: string };
    return {
      description: content ?? summary,
      headers: headersNamed(...usual, "Content-Disposition"),
      content: { [mediaType]: { schema: { type: "string", description: content } } },
    };
  }
  return {
    description: description ?? (typeof message === "string" ? message : summary),
    headers: headersNamed(...usual, ...(idempotent ? (["Idempotent-Replayed"] as const) : [])),
    content: {
      "application/json": {
        schema: {
          type: "object",
          description: "The envelope around the data.",
          required: ["success", "data", "message", ...(isContinued ? ["next_cursor"] : [])],
          properties: {
            success: { const: true, type: "boolean", description: "True: the request succeeded." },
            data: withDescription(components.schema(answer), `${summary}.`),
            ...(isContinued && { next_cursor: nextCursor }),
            message: { type: "string", description: "What was done, for people; do not parse it." },
            warnings: refTo("schemas", "IgnoredNames"),
          },
        },
      },
    },
  };
}

/** The schema with a description, unless it has one. */
function withDescription(schema: unknown, description: string): Json {
  return { description, ...(schema as Json) };
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
