/**
 * Promises of every endpoint. The list of endpoints is that of the running service, so that none is missing;
 * support/contract-examples.ts creates ids and bodies.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Endpoint, permissionOf } from "#platform/http/endpoint.ts";
import { errorCodesOf } from "#platform/http/endpoint-error-codes.ts";
import { KnownNames } from "#platform/http/request/name-suggestions.ts";
import { unknownNamesIn } from "#platform/http/request/unknown-fields.ts";
import { fileFieldOf } from "#platform/http/request/uploads.ts";
import { EVENT_STREAM } from "#platform/http/response/event-stream.ts";
import { mediaTypeOf } from "#platform/http/response/file-answer.ts";
import { isUuid, newId, type WorkspaceId } from "#platform/ids.ts";
import { patternsInWords } from "#platform/shapes.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { catalogueOf } from "#workspace/api-keys/permission-catalogue.ts";
import { type ApiAnswer, apiCaller } from "./support/api-caller.ts";
import { ask, bodyFor, callOf, fill, idsFor, sharedBodyFor, sharedIdsFor } from "./support/contract-calls.ts";
import { jobResource, type Owner, resources } from "./support/contract-examples.ts";
import { withoutOtherFields } from "./support/exact-shape.ts";
import { startFakeStripe } from "./support/fake-stripe.ts";
import { startOpenIdProvider } from "./support/openid-provider.ts";
import { startService, type TestService } from "./support/service.ts";

const MEGABYTE = 1024 ** 2;
const endpoints = endpointsForDocs();
const every = endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);
/** Operations in a workspace, with a permission or for all of its keys and members. */
const inWorkspace = every.filter(([, { needs }]) => typeof needs !== "string" || needs === "authenticated");
const closed = every.filter(([, { needs }]) => needs !== "public");
const forPeople = every.filter(([, { needs }]) => needs === "signed in" || needs === "operator");
const withBody = every.filter(([, { body }]) => body !== undefined);
const withJson = withBody.filter(([, { body }]) => fileFieldOf(body) === undefined);
const withForm = withBody.filter(([, { body }]) => fileFieldOf(body) !== undefined);
const withIds = every.filter(([, { path }]) => path.includes("{"));
const paged = every.filter(([, { query = {} }]) => "page" in query && "limit" in query);

let service: TestService;
let owner: Owner;
let stranger: Owner;
let suspended: { readonly workspaceId: WorkspaceId; readonly key: string };

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-contract-"));
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  const stripe = await startFakeStripe();
  const openId = await startOpenIdProvider();
  service = await startService({ env: { DATA_DIR: dataDir, ...stripe.env, ...openId.env } });
  const { database, clock, workspaceId } = service;
  // The clock runs ahead during the examples; the person stays confirmed.
  const confirmedAt = new Date("2999-01-01");
  const person = await service.newPerson(["*:*"], { isOperator: true, confirmedAt });
  owner = { workspaceId, call: service.call, person, database, clock };
  const other = await service.newWorkspace();
  const call = apiCaller(() => service.url, other.key);
  const theirs = await service.newPerson(["*:*"], { workspaceId: other.workspaceId, confirmedAt });
  stranger = { workspaceId: other.workspaceId, call, person: theirs, database, clock };
  suspended = await service.newWorkspace();
  await database.run(sql`update workspaces set is_suspended = true where id = ${suspended.workspaceId}`);
});

/** Each refusal has the envelope, a code that the API reference lists, and a request id. */
function expectRefusal(endpoint: Endpoint, answer: ApiAnswer, status: number, code: string): void {
  expect(answer.body).toMatchObject({ success: false, code, error: expect.stringMatching(/./) });
  expect(answer.status).toBe(status);
  expect(isUuid(answer.headers.get("x-request-id") ?? "")).toBe(true);
  if (code !== "METHOD_NOT_ALLOWED") expect(errorCodesOf(endpoint)).toContain(code);
}

/** The last of these words in a path selects its permission; a path without any of them is a report. */
const governing: Readonly<Record<string, string>> = {
  "audit-events": "audit",
  roles: "roles",
  team: "team",
  workspace: "workspace",
  "api-keys": "api_keys",
  "sending-domains": "sending_domains",
  "verified-senders": "verified_senders",
  "tracking-domains": "tracking_domains",
  "sending-ips": "sending_ips",
  "routing-rules": "routing_rules",
  "inbound-routes": "inbound_routes",
  "received-emails": "received_emails",
  "mailing-lists": "mailing_lists",
  "custom-fields": "custom_fields",
  "suppression-lists": "suppression_lists",
  suppressions: "suppression_lists",
  autoresponders: "autoresponders",
  billing: "billing",
  blacklist: "blacklist",
  brand: "brand",
  texts: "brand",
  campaigns: "campaigns",
  templates: "templates",
  content: "message_content",
  source: "message_content",
  dkims: "dkims",
  emails: "emails",
  jobs: "jobs",
  media: "media",
  "merge-tags": "campaigns",
  notices: "notices",
  render: "campaigns",
  retry: "messages",
  segments: "segments",
  "share-links": "share_links",
  subscribers: "subscribers",
  validations: "validations",
  webhooks: "webhooks",
};
/** Paths whose words would select another permission. */
const ofPath: Readonly<Record<string, string>> = {
  "/messages/{id}/cancel": "messages",
  "/emails/{id}": "reports",
  "/received-emails/{id}/source": "received_emails",
  "/check": "campaigns",
};
const reports =
  /^\/(queue|dashboard|stats|messages(?!\/\{id\}\/)|deliverability|bounces|complaints|bounces-complaints)\b/;

/** Any caller may use these; what it gets depends on its permissions. */
const forAnyone = new Set([
  "GET /api-keys/permissions",
  "GET /events",
  "GET /notices",
  "GET /search",
  "GET /smtp-settings",
  "GET /views",
  "POST /views",
  "PATCH /views/{id}",
  "DELETE /views/{id}",
]);

/** POST calls that change nothing. */
const readingPosts = new Set([
  "POST /mailing-lists/{id}/segments/preview",
  "POST /suppression-lists/{id}/test",
  "POST /render",
  "POST /check",
  "POST /campaigns/{id}/check",
  "POST /suppressions/find",
  "POST /routing-rules/test",
]);
const sends = new Set([
  "POST /emails/send",
  ...["", "/batch", "/{id}/cancel"].map((rest) => `POST /emails${rest}`),
  ...["send", "pause", "resume", "cancel"].map((act) => `POST /campaigns/{id}/${act}`),
  ...["retry", "cancel"].map((act) => `POST /messages/{id}/${act}`),
  // Not in the contract: what else sends, or calls back what was to be sent.
  ...["unschedule", "test"].map((act) => `POST /campaigns/{id}/${act}`),
  ...["activate", "deactivate", "test"].map((act) => `POST /autoresponders/{id}/${act}`),
  // Changes where mail that was sent leads.
  "PATCH /campaigns/{id}/links",
  "POST /templates/{id}/test",
]);

function actionBy(name: string): string {
  if (sends.has(name)) return "send";
  return name.startsWith("GET ") || readingPosts.has(name) ? "read" : "write";
}

it("every field with a pattern has a description of the allowed values", () => {
  const bare: unknown[] = [];
  JSON.stringify(
    endpoints.map(({ body }) => body ?? null),
    (key, value: unknown) => {
      if (key === "pattern" && typeof value === "string" && !patternsInWords.has(value)) bare.push(value);
      return value;
    },
  );
  expect(bare).toEqual([]);
});

describe("permissions", () => {
  const permissions = catalogueOf(endpoints).resources.flatMap(({ actions }) =>
    actions.map(({ value }) => value),
  );

  it.each(inWorkspace)("%s needs the permission of its path and method", (name, { path, needs }) => {
    if (forAnyone.has(name)) return expect(needs).toBe("authenticated");
    const last = path.split("/").findLast((part) => part in governing) ?? "";
    const resource = reports.test(path) ? "reports" : (ofPath[path] ?? governing[last]);
    return expect(typeof needs !== "string" && permissionOf(needs)).toBe(`${resource}:${actionBy(name)}`);
  });

  it.each(closed)("%s without a key answers 401", async (_name, endpoint) => {
    const path = fill(endpoint.path, []);
    for (const key of [null, "", "efk_", `efk_${"x".repeat(40)}`, "x".repeat(8_000)]) {
      const answer = await service.call(endpoint.method, path, undefined, { key });
      expectRefusal(endpoint, answer, 401, "UNAUTHORIZED");
    }
  });

  it.each(
    inWorkspace.flatMap(([name, endpoint]) => [
      [name, "key", endpoint] as const,
      [name, "member", endpoint] as const,
    ]),
  )(
    "%s: a %s with every permission except its own gets 403 with required_scopes",
    async (_name, kind, endpoint) => {
      const { needs, path } = endpoint;
      const wanted = typeof needs === "string" ? undefined : permissionOf(needs);
      const others = permissions.filter((value) => value !== wanted);
      const call =
        kind === "key"
          ? apiCaller(() => service.url, await service.newKey(others))
          : (await service.newPerson(others)).call;
      const isRefused = typeof needs !== "string";
      const ids = await (isRefused ? sharedIdsFor : idsFor)(path, owner);
      const body = await (isRefused ? sharedBodyFor : bodyFor)(endpoint, owner);
      const answer = await ask(endpoint, call, fill(path, ids), body);
      if (typeof needs === "string") expect(answer.status).toBeLessThan(300);
      else if (needs.judgedBy === "server") {
        expectRefusal(endpoint, answer, 403, "INSUFFICIENT_SCOPE");
        expect(answer.body.required_scopes).toEqual([wanted]);
      } else if (path.includes("{")) {
        expectRefusal(endpoint, answer, 403, "INSUFFICIENT_SCOPE");
        expect(answer.body.required_scopes).toEqual([`${jobResource}:${needs.action}`]);
      } else {
        expect(answer.status).toBe(200);
        expect(answer.body.data.pagination.total).toBe(0);
      }
    },
  );

  it.each(forPeople)("%s refuses API keys with 403", async (_name, endpoint) => {
    const answer = await service.call(endpoint.method, fill(endpoint.path, []));
    expectRefusal(endpoint, answer, 403, "FORBIDDEN");
  });

  it.each(inWorkspace)(
    "%s refuses people who are no member, who name no workspace, or who come from another site",
    async (_name, endpoint) => {
      const url = fill(endpoint.path, []);
      const call = (headers: Record<string, string>) =>
        owner.person.call(endpoint.method, url, undefined, { headers });
      for (const workspaceId of [stranger.workspaceId, newId()]) {
        expectRefusal(endpoint, await call({ "X-Workspace": workspaceId }), 403, "FORBIDDEN");
      }
      expectRefusal(endpoint, await call({ "X-Workspace": "x" }), 400, "VALIDATION_ERROR");
      if (endpoint.method === "GET") return;
      for (const site of ["cross-site", "same-site", "none"]) {
        expectRefusal(endpoint, await call({ "Sec-Fetch-Site": site }), 403, "FORBIDDEN");
      }
    },
  );

  it.each(inWorkspace)(
    "%s of a suspended workspace answers 403 if it sends or changes something",
    async (_name, endpoint) => {
      const { key } = suspended;
      const answer = await service.call(endpoint.method, fill(endpoint.path, []), undefined, { key });
      if (errorCodesOf(endpoint).includes("SERVICE_SUSPENDED")) {
        expectRefusal(endpoint, answer, 403, "SERVICE_SUSPENDED");
      } else expect(answer.body.code).not.toBe("SERVICE_SUSPENDED");
    },
  );
});

describe("ids in paths", () => {
  /** An operator may act on every workspace and user. */
  const ofOwner = withIds.filter(([, { needs }]) => needs !== "operator");
  const ofOperator = withIds.filter(([, { needs }]) => needs === "operator");

  it.each(ofOperator)("%s: an unknown id answers 404", async (_name, endpoint) => {
    const body = await sharedBodyFor(endpoint, owner);
    const url = fill(endpoint.path, [newId()]);
    expectRefusal(endpoint, await owner.person.call(endpoint.method, url, body), 404, "NOT_FOUND");
  });

  it.each(ofOwner)("%s: another workspace's id answers 404, like an unknown id", async (_name, endpoint) => {
    const own = await sharedIdsFor(endpoint.path, owner);
    const foreign = await sharedIdsFor(endpoint.path, stranger);
    const body = await sharedBodyFor(endpoint, owner);
    for (const [place, theirs] of foreign.entries()) {
      const answerTo = async (id: string) => {
        const url = fill(endpoint.path, own.with(place, id));
        const answer = await callOf(endpoint, owner)(endpoint.method, url, body);
        expectRefusal(endpoint, answer, 404, "NOT_FOUND");
        return answer.body;
      };
      expect(await answerTo(theirs)).toEqual(await answerTo(newId()));
    }
  });

  it.each(withIds)("%s: a malformed id answers 404", async (_name, endpoint) => {
    const ids = await sharedIdsFor(endpoint.path, owner);
    const body = await sharedBodyFor(endpoint, owner);
    for (const [place, id] of ids.entries()) {
      for (const malformed of ["x", "0", "-1", `${id}0`, "a%00b", "..%2f..", "%27--", "9".repeat(300)]) {
        const url = fill(endpoint.path, ids.with(place, malformed));
        expectRefusal(endpoint, await callOf(endpoint, owner)(endpoint.method, url, body), 404, "NOT_FOUND");
      }
    }
  });
});

describe("bodies", () => {
  const send = async (endpoint: Endpoint, ids: readonly string[], body: unknown) =>
    callOf(endpoint, owner)(endpoint.method, fill(endpoint.path, ids), body);

  it.each(withBody)("%s: a body that is not a JSON object answers 400", async (_name, endpoint) => {
    const ids = await sharedIdsFor(endpoint.path, owner);
    for (const body of [
      "{",
      "",
      "[]",
      "null",
      "7",
      '"text"',
      '{"a":1}}',
      "\u0000",
      '{"\\u0000":1}',
      "[".repeat(100_000),
    ]) {
      if (body === "" && endpoint.bodyMayBeAbsent) continue;
      expectRefusal(endpoint, await send(endpoint, ids, body), 400, "VALIDATION_ERROR");
    }
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const url = fill(endpoint.path, ids);
    const answer = await callOf(endpoint, owner)(endpoint.method, url, "a=b", { headers: form });
    expectRefusal(endpoint, answer, 400, "VALIDATION_ERROR");
  });

  it.each(withJson)(
    "%s: a field of the wrong type or with a NUL answers 400 and is named",
    async (_name, endpoint) => {
      const ids = await sharedIdsFor(endpoint.path, owner);
      const example = (await sharedBodyFor(endpoint, owner)) ?? {};
      const { properties = {} } = endpoint.body as TSchema & { properties?: Record<string, TSchema> };
      for (const field of Object.keys(properties)) {
        for (const wrong of [
          "a\0b",
          ["\0"],
          { "": { "": "\ud800" } },
          Compile(properties[field] ?? {}).Check({}) ? 7 : {},
        ]) {
          const answer = await send(endpoint, ids, { ...example, [field]: wrong });
          expectRefusal(endpoint, answer, 400, "VALIDATION_ERROR");
          expect(answer.body.details[0].field.split(/[.[]/)[0]).toBe(field);
        }
      }
    },
  );

  it.each(withJson)("%s: a body over its limit answers 413", async (_name, endpoint) => {
    const ids = await sharedIdsFor(endpoint.path, owner);
    const answer = await send(endpoint, ids, " ".repeat((endpoint.bodyLimit ?? MEGABYTE) + 1));
    expectRefusal(endpoint, answer, 413, "PAYLOAD_TOO_LARGE");
  });

  it.each(withForm)(
    "%s: a form with no file or two files answers 400 and names the field",
    async (_name, endpoint) => {
      const ids = await sharedIdsFor(endpoint.path, owner);
      const form = (await bodyFor(endpoint, owner)) as FormData;
      const field = fileFieldOf(endpoint.body) ?? "";
      form.append(field, form.get(field) ?? "");
      expectRefusal(endpoint, await send(endpoint, ids, form), 400, "VALIDATION_ERROR");
      form.delete(field);
      const answer = await send(endpoint, ids, form);
      expectRefusal(endpoint, answer, 400, "VALIDATION_ERROR");
      expect(answer.body.details[0].field).toBe(field);
    },
  );

  it.each(withForm)("%s: a file over its limit answers 413", async (_name, endpoint) => {
    const ids = await sharedIdsFor(endpoint.path, owner);
    const form = (await bodyFor(endpoint, owner)) as FormData;
    form.set(
      fileFieldOf(endpoint.body) ?? "",
      new Blob([new Uint8Array((endpoint.bodyLimit ?? MEGABYTE) + 1)]),
    );
    expectRefusal(endpoint, await send(endpoint, ids, form), 413, "PAYLOAD_TOO_LARGE");
  });
});

describe("names", () => {
  const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const namesIn = (shape: TSchema | undefined) =>
    Object.keys((shape as TSchema & { properties?: object })?.properties ?? {});

  it.each(withBody)("%s refuses misspelled fields and names the correct ones", (_name, endpoint) => {
    const known = namesIn(endpoint.body);
    for (const name of known) {
      for (const spelling of [camelCase(name), name.toUpperCase(), name.replaceAll("_", "-")]) {
        if (!known.includes(spelling)) expect(new KnownNames(known).meantBy(spelling)).toBe(name);
      }
    }
  });

  it.each(every)("%s refuses misspelled query parameters", async (_name, endpoint) => {
    const known = Object.keys(endpoint.query ?? {});
    for (const name of known) {
      for (const spelling of [camelCase(name), name.toUpperCase()]) {
        if (!known.includes(spelling)) expect(new KnownNames(known).meantBy(spelling)).toBe(name);
      }
    }
  });

  it.each(withJson)(
    "%s accepts every field name that it, or a GET of the same path, returns",
    (_name, endpoint) => {
      const read = every.find(([, { method, path }]) => method === "GET" && path === endpoint.path)?.[1];
      const sentBack = Object.fromEntries(
        [endpoint, read].flatMap((each) => namesIn(each?.answer)).map((name) => [name, 1]),
      );
      const { answer, query = {}, body = {}, advise } = endpoint;
      const isClosed = (body as { additionalProperties?: unknown }).additionalProperties === false;
      const unknown = unknownNamesIn(body, { answer, query: Object.keys(query), advise })?.(sentBack);
      if (!isClosed) expect(unknown?.faults ?? []).toEqual([]);
    },
  );
});

describe("paths and methods", () => {
  it.each([...new Map(every.map(([, endpoint]) => [endpoint.path, endpoint]))])(
    "%s refuses other methods and lists the allowed ones in Allow",
    async (path, endpoint) => {
      const declared = endpoints.filter((other) => other.path === path).map(({ method }) => method);
      const allowed = new Set<string>(declared.includes("GET") ? [...declared, "HEAD"] : declared);
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        if (allowed.has(method)) continue;
        const answer = await owner.call(method, fill(path, []));
        expect(answer.headers.get("allow")?.split(", ").sort()).toEqual([...allowed].sort());
        expectRefusal(endpoint, answer, 405, "METHOD_NOT_ALLOWED");
      }
    },
  );

  it("an unknown path answers 401 without a key and 404 with one", async () => {
    for (const path of ["/nowhere", "/api-keys/x/y/z", "//api-keys", "/Api-Keys"]) {
      expect((await service.call("GET", path, undefined, { key: null })).body.code).toBe("UNAUTHORIZED");
      expect((await service.call("GET", path)).body.code).toBe("NOT_FOUND");
    }
  });
});

describe("answers", () => {
  it.each(inWorkspace)("%s answers a member as it answers a key", async (_name, endpoint) => {
    const url = fill(endpoint.path, await idsFor(endpoint.path, owner));
    const answer = await ask(endpoint, owner.person.call, url, await bodyFor(endpoint, owner));
    expect(answer.status, JSON.stringify(answer.body)).toBe(endpoint.status ?? 200);
  });

  it.each(every)("%s answers in its declared shape", async (_name, endpoint) => {
    // Some operations end a session or give it another cookie.
    const person = await service.newPerson(["*:*"], {
      isOperator: true,
      confirmedAt: new Date("2999-01-01"),
    });
    const acting = { ...owner, person };
    const url = fill(endpoint.path, await idsFor(endpoint.path, acting));
    if (endpoint.id === "createRecoveryCodes") await resources["/me/second-factors/{id}"]?.(acting, []);
    const answer = await ask(endpoint, callOf(endpoint, acting), url, await bodyFor(endpoint, acting));
    expect(answer.status, JSON.stringify(answer.body)).toBe(endpoint.status ?? 200);
    const mediaType = mediaTypeOf(endpoint.answer);
    if (mediaType !== undefined) {
      const wanted = /^text\/|\bjson$/.test(mediaType) ? `${mediaType}; charset=utf-8` : mediaType;
      expect(answer.headers.get("content-type")).toBe(wanted);
      if (mediaType === EVENT_STREAM) return;
      expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="/);
      return;
    }
    const beside = [endpoint.isContinued && "next_cursor", endpoint.isCounted && "total"].filter(Boolean);
    expect(Object.keys(answer.body).sort()).toEqual(
      ["data", "message", "success", ...beside].map(String).sort(),
    );
    expect(answer.body).toMatchObject({ success: true, message: expect.stringMatching(/./) });
    const shape = Compile(withoutOtherFields(endpoint.answer) as TSchema);
    expect(shape.Errors(answer.body.data)).toEqual([]);
  });

  it.each(paged)("%s clamps page and limit instead of failing", async (_name, endpoint) => {
    const url = fill(endpoint.path, await idsFor(endpoint.path, owner));
    for (const value of [
      "0",
      "-1",
      "1.5",
      "abc",
      "",
      "1e9",
      "9223372036854775807",
      "%00",
      "[]",
      "1&page=2&limit=x",
    ]) {
      const answer = await callOf(endpoint, owner)(endpoint.method, `${url}?page=${value}&limit=${value}`);
      expect(answer.status).toBe(200);
      // Its rows stand alone, and are null if there are none.
      if (endpoint.isContinued || Array.isArray(answer.body.data)) continue;
      const { page, limit } = answer.body.data.pagination;
      expect(page).toBeGreaterThanOrEqual(1);
      expect(limit).toBeGreaterThanOrEqual(1);
      expect(limit).toBeLessThanOrEqual(200);
    }
  });
});
