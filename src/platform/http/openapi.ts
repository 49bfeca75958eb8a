/**
 * Generates openapi.json (OpenAPI 3.1) from the endpoints. Their shapes are JSON Schema, and envelope, headers and errors are
 * the same for all. A shape with an `$id` becomes a component.
 */
import type { TSchema } from "typebox";
import { errorTable } from "#platform/errors.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { SESSION_COOKIE, secureNameOf } from "./auth/session-cookie.ts";
import { curlSample, type RecordedExample, type RecordedExamples, SAMPLE_HOST } from "./code-sample.ts";
import { BODY_LIMIT, type Endpoint, permissionOf } from "./endpoint.ts";
import { errorCodesOf } from "./endpoint-error-codes.ts";
import { Components, headers, headersNamed, type Json, parameters, refTo } from "./openapi-components.ts";
import { EVENTS_TAG, eventHeaders, webhooksOf } from "./openapi-events.ts";
import { isRequired } from "./request/query.ts";
import { fileFieldOf } from "./request/uploads.ts";
import { EVENT_STREAM, eventsOfStream } from "./response/event-stream.ts";
import { mediaTypeOf } from "./response/file-answer.ts";
import { API_PREFIX } from "./server.ts";

interface DocumentParts {
  readonly version: string;
  readonly examples?: RecordedExamples;
  /** Shapes of the `data` of events that are sent to webhooks, by event. */
  readonly events?: Readonly<Record<string, TSchema>>;
  /** Groups of tags in the order in which a reader looks for them; others follow. */
  readonly areas?: readonly string[];
}

/** The same endpoints always give the same document. @throws Error if two different shapes have the same `$id` */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  { version, examples = {}, events = {}, areas = [] }: DocumentParts,
): Json {
  const components = new Components();
  const hasEvents = Object.keys(events).length > 0;
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    Object.assign(paths[endpoint.path] ?? {}, {
      [endpoint.method.toLowerCase()]: operation(endpoint, {
        tag: tagOf(endpoint, endpoints),
        components,
        example: examples[endpoint.id],
      }),
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
    security: [{ apiKey: [] }, ...sessions],
    tags: tagsOf(endpoints, hasEvents),
    "x-tagGroups": tagGroups(endpoints, areas, hasEvents),
    paths,
    ...(hasEvents && { webhooks: webhooksOf(events, components) }),
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "A key of one workspace: `efk_…`",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: secureNameOf(SESSION_COOKIE),
          description:
            "The session of a person who has signed in, over HTTPS. A change also needs `Sec-Fetch-Site: same-origin` or the `Origin` of the service, which browsers send.",
        },
        sessionOverHttp: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description:
            "The same over HTTP, as on the machine of a developer, where browsers accept no `__Host-` cookie.",
        },
      },
      parameters: { ...parameters, ...(hasEvents && eventHeaders) },
      headers,
      responses: components.responses,
      schemas: components.schemas,
    },
  };
}

/** Either cookie; which one follows from the address of the service. */
const sessions = [{ session: [] }, { sessionOverHttp: [] }];

const introduction = `Every response is \`{ success: true, data, message }\` (with \`warnings\` if fields of the request were ignored) or \`{ success: false, error, code }\`.
Send the API key of a workspace in \`X-API-Key\`, or the cookie of a session and the id of the workspace in \`X-Workspace\`. The permission that an operation requires is its \`x-permission\`.
Times are ISO 8601 in UTC, ids are UUIDs (in any case in requests), lists are newest first. Every response has \`X-Request-Id\`.`;

const nextCursor = {
  type: ["string", "null"],
  description: "Value for `after`; null if there are no more rows.",
};

const rowsOfAllPages = { type: "integer", description: "Number of rows of all pages." };

interface Surroundings {
  readonly tag: string;
  readonly components: Components;
  readonly example: RecordedExample | undefined;
}

function operation(endpoint: Endpoint, { tag, components, example }: Surroundings): Json {
  const { id: operationId, needs, summary, path, body } = endpoint;
  const file = fileFieldOf(endpoint.body);
  const isForm = file !== undefined;
  return {
    operationId,
    summary,
    description: descriptionOf(endpoint),
    tags: [tag],
    "x-permission": typeof needs === "string" ? needs : permissionOf(needs),
    ...securityOf(needs),
    parameters: parametersOf(endpoint, components, example),
    ...(body && {
      requestBody: {
        required: !endpoint.bodyMayBeAbsent,
        description: isForm ? "A form with one file." : "A JSON object.",
        content: {
          [isForm ? "multipart/form-data" : "application/json"]: {
            schema: components.schema(bodyOf(endpoint)),
            ...exampleOf(summary, example?.body),
          },
        },
      },
    }),
    responses: responsesOf(endpoint, components, example),
    ...(example && {
      "x-codeSamples": [
        {
          lang: "Shell",
          label: "curl",
          source: curlSample(endpoint, sampleUrl(path, example), example, file),
        },
      ],
    }),
  };
}

function descriptionOf({ description, summary, mayTakeLong, bodyLimit, needs }: Endpoint): string {
  return [
    description ?? `${summary}.`,
    bodyLimit !== undefined &&
      `The body, or the file of the form, may have ${bytesText(bodyLimit)} instead of ${bytesText(BODY_LIMIT)}.`,
    mayTakeLong === "reading" && "It may take longer than a few seconds if there is much data.",
    mayTakeLong === "working aside" && "It may take longer than a few seconds for a large mail.",
    mayTakeLong === "asking others" && "It asks other servers, and may take longer than a few seconds.",
    typeof needs === "string" ? openTo[needs] : `Needs the permission \`${permissionOf(needs)}\`.`,
  ]
    .filter((part) => part !== false)
    .join("\n\n");
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

/** Whether the operation belongs to one workspace: that of the key, or the one that a person names. */
function isInWorkspace(needs: Endpoint["needs"]): boolean {
  return needs !== "public" && needs !== "signed in" && needs !== "operator";
}

/** How callers authenticate, where that differs from the document's `security`. */
function securityOf(needs: Endpoint["needs"]): Json {
  if (needs === "public") return { security: [] };
  return isInWorkspace(needs) ? {} : { security: sessions };
}

function exampleOf(summary: string, value: unknown): Json {
  return value === undefined ? {} : { examples: { example: { summary, value } } };
}

function sampleUrl(path: string, { ids, query = "" }: RecordedExample): string {
  const left = [...ids];
  return `${SAMPLE_HOST}${API_PREFIX}${path.replaceAll(/\{\w+\}/g, () => left.shift() ?? "")}${query}`;
}

function parametersOf(endpoint: Endpoint, components: Components, example?: RecordedExample): unknown[] {
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name], place) => ({
    name,
    in: "path",
    required: true,
    description: `Id of the ${nounOf(endpoint.path, name ?? "")}, a UUID.`,
    schema: { type: "string", format: "uuid" },
    ...(example && { example: example.ids[place] }),
  }));
  const inQuery = Object.entries(endpoint.query ?? {}).map(([name, field]) => {
    const { description, ...rest } = field.schema as TSchema & { description?: string };
    const required = isRequired(field, name);
    const given = new URLSearchParams(example?.query).get(name);
    return {
      name,
      in: "query",
      required,
      description,
      schema: components.schema(rest),
      ...(given !== null && { example: given }),
    };
  });
  const ofPerson = isInWorkspace(endpoint.needs)
    ? [
        ...(mediaTypeOf(endpoint.answer) === undefined ? [] : [refTo("parameters", "WorkspaceInQuery")]),
        refTo("parameters", "Workspace"),
      ]
    : [];
  const inHeader = [
    ...ofPerson,
    ...(endpoint.idempotent ? [refTo("parameters", "IdempotencyKey")] : []),
    ...(endpoint.conditional ? [refTo("parameters", "IfMatch")] : []),
    ...(eventsOfStream(endpoint.answer) ? [refTo("parameters", "LastEventId")] : []),
  ];
  return [...inPath, ...inQuery, ...inHeader];
}

/** What an id in a path belongs to, in words: the segment before it, in the singular. */
export function nounOf(path: string, name: string): string {
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

function responsesOf(endpoint: Endpoint, components: Components, example?: RecordedExample): Json {
  const codesByStatus = Object.groupBy(errorCodesOf(endpoint), (code) => errorTable[code].status);
  const refusals: Record<string, Json> = Object.fromEntries(
    Object.entries(codesByStatus).map(([status, codes]) => [status, components.refusal(codes)]),
  );
  if (endpoint.body) refusals[408] = components.refusal(["VALIDATION_ERROR"], 408);
  refusals[503] = components.refusal(["INTERNAL_ERROR"], 503);
  const status = endpoint.status ?? 200;
  const hasDryRun = status === 201 && endpoint.query?.dry_run !== undefined;
  return {
    ...(hasDryRun && {
      200: success(endpoint, components, { description: "With `dry_run`: nothing was done" }),
    }),
    [status]: success(endpoint, components, { example }),
    ...refusals,
  };
}

function success(
  endpoint: Endpoint,
  components: Components,
  { description, example }: { description?: string; example?: RecordedExample | undefined },
): Json {
  const { answer, summary, message, isContinued, isCounted, idempotent, etag } = endpoint;
  const usual = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;
  const { description: content } = answer as TSchema & { description?: string };
  const streamed = eventsOfStream(answer);
  if (streamed !== undefined) {
    const schema = { type: "string", description: content };
    return {
      description: content ?? summary,
      headers: headersNamed(...usual),
      content: { [EVENT_STREAM]: { schema, "x-events": components.schema(inlined(streamed)) } },
    };
  }
  const mediaType = mediaTypeOf(answer);
  if (mediaType !== undefined) {
    return {
      description: content ?? summary,
      headers: headersNamed(...usual, "Content-Disposition"),
      content: {
        [mediaType]: {
          schema: {
            type: mediaType.startsWith("application/json") ? "object" : "string",
            description: content,
          },
          ...exampleOf(summary, example?.answer),
        },
      },
    };
  }
  return {
    description: description ?? (typeof message === "string" ? message : summary),
    headers: headersNamed(
      ...usual,
      ...(idempotent ? (["Idempotent-Replayed"] as const) : []),
      ...(etag ? (["ETag"] as const) : []),
    ),
    content: {
      "application/json": {
        schema: {
          type: "object",
          description: "The envelope around the data.",
          required: [
            "success",
            "data",
            "message",
            ...(isContinued ? ["next_cursor"] : []),
            ...(isCounted ? ["total"] : []),
          ],
          properties: {
            success: { const: true, type: "boolean", description: "True: the request succeeded." },
            data: withDescription(components.schema(answer), `${summary}.`),
            ...(isContinued && { next_cursor: nextCursor }),
            ...(isCounted && { total: rowsOfAllPages }),
            message: { type: "string", description: "What was done, for people; do not parse it." },
            warnings: refTo("schemas", "IgnoredNames"),
          },
        },
        ...exampleOf(summary, example?.answer),
      },
    },
  };
}

/** The shape without ids: an extension of the document does not count as a use of a component. */
function inlined(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(inlined);
  if (typeof shape !== "object" || shape === null) return shape;
  const { $id: _, ...rest } = shape as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, inlined(part)]));
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

function tagsOf(endpoints: readonly Endpoint[], hasEvents: boolean): Json[] {
  const used = new Set(endpoints.map((endpoint) => tagOf(endpoint, endpoints)));
  const labels = new Set(resourcesOf(endpoints).map(({ label }) => label));
  return [
    ...resourcesOf(endpoints).map(({ name, label, about }) => ({
      name: label,
      description: about ?? `Operations that require permissions on \`${name}\`.`,
    })),
    ...[...used]
      .filter((tag) => !labels.has(tag))
      .map((name) => ({ name, description: otherTags[name] ?? name })),
    ...(hasEvents
      ? [
          {
            name: EVENTS_TAG,
            description: "What the service POSTs to webhooks, signed as Standard Webhooks define.",
          },
        ]
      : []),
  ];
}

const otherTags: Readonly<Record<string, string>> = {
  [ACCOUNT_TAG]: "Signing in, and the account of the person who is signed in.",
  [OPERATOR_TAG]: "Operations for the people who operate the installation.",
};

function tagGroups(endpoints: readonly Endpoint[], areas: readonly string[], hasEvents: boolean): Json[] {
  const groups = Object.groupBy(resourcesOf(endpoints), ({ group }) => group);
  const used = new Set(endpoints.map((endpoint) => tagOf(endpoint, endpoints)));
  const labels = new Set(resourcesOf(endpoints).map(({ label }) => label));
  const others = [...used].filter((tag) => !labels.has(tag));
  const names = Object.keys(groups);
  const ordered = [
    ...areas.filter((area) => names.includes(area)),
    ...names.filter((name) => !areas.includes(name)),
  ];
  return [
    ...ordered.map((name) => ({ name, tags: groups[name]?.map(({ label }) => label) ?? [] })),
    ...(hasEvents ? [{ name: EVENTS_TAG, tags: [EVENTS_TAG] }] : []),
    ...(others.length > 0 ? [{ name: "People", tags: others }] : []),
  ];
}
