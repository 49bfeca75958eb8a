import { Readable } from "node:stream";
import { pino } from "pino";
import sql from "sql-template-tag";
import { Type } from "typebox";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createRequestDatabase, patiently } from "#platform/database/request-database.ts";
import { ApiError } from "#platform/errors.ts";
import { isUuid, newId, type WorkspaceId } from "#platform/ids.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { endpoint, need, type Resource } from "./endpoint.ts";
import { FileAnswer, fileShape } from "./response/file-answer.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const Thing = Type.Object({ id: Type.String(), name: Type.String() });
const database = await testDatabase();
const logged: { msg: string; level: number; request_id?: string }[] = [];
const log = pino({ level: "error" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
const answered: [string, number][] = [];
/** Thrown by the handler of POST /things, if defined. */
let fault: unknown;
let api: BareServer;
const requests = createRequestDatabase(database.url, {
  size: 2,
  name: "requests",
  onError: () => {},
});
afterAll(() => requests.close());
/** The limit of time that a statement of a request has. */
const statementLimit = async () =>
  (await requests.row<{ value: string }>(sql`select current_setting('statement_timeout') as value`))?.value;
async function* limits() {
  for (let page = 0; page < 3; page += 1) yield `${await statementLimit()}\n`;
}
let workspaceId: WorkspaceId;
let key: string;

const endpoints = [
  endpoint({
    id: "getThing",
    method: "GET",
    path: "/things/{id}",
    summary: "A thing",
    needs: need(things, "read"),
    answer: Thing,
    message: (thing) => `Thing ${thing.name}`,
    handle: async ({ params }) => ({ id: params.id, name: "x" }),
  }),
  endpoint({
    id: "createThing",
    method: "POST",
    path: "/things",
    summary: "Make a thing",
    needs: need(things, "write"),
    body: Type.Object({ name: Type.String() }),
    answer: Thing,
    status: 201,
    message: "Made",
    async handle({ body, requestId }) {
      if (fault !== undefined) throw fault;
      return { id: requestId, name: body.name };
    },
  }),
  endpoint({
    id: "exportThings",
    method: "GET",
    path: "/things/export",
    summary: "CSV",
    needs: need(things, "read"),
    answer: fileShape("text/csv", "Rows."),
    handle: async () => new FileAnswer('Größe "1".csv', Readable.from(["a,", "b\r\n"])),
  }),
  endpoint({
    id: "exportLimits",
    method: "GET",
    path: "/things/limits",
    summary: "CSV",
    needs: need(things, "read"),
    mayTakeLong: "reading",
    answer: fileShape("text/csv", "Rows."),
    handle: async () => new FileAnswer("limits.csv", Readable.from(limits())),
  }),
];

beforeAll(async () => {
  api = await startBareServer(database, endpoints, {
    log,
    onAnswer: (operation, status) => void answered.push([operation, status]),
    pages: (server) => server.get("/page", async () => "a page"),
  });
  workspaceId = await insertBareWorkspace(database);
  key = api.newKey(workspaceId);
});
beforeEach(() => {
  fault = undefined;
  logged.length = 0;
  answered.length = 0;
});

const failed = (code: string, error: unknown = expect.any(String)) => ({ success: false, error, code });

const headOf = (path: string, as = key) =>
  fetch(`${api.url}/api/v1${path}`, { method: "HEAD", headers: { "X-API-Key": as } });

describe("an answer", () => {
  it("is the success envelope, with the message of the endpoint", async () => {
    const id = newId();
    const { status, body, headers } = await api.call("GET", `/things/${id}`, key);
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, data: { id, name: "x" }, message: "Thing x" });
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("has the declared status", async () => {
    expect((await api.call("POST", "/things", key, { name: "x" })).status).toBe(201);
  });

  it("is counted under its operation", async () => {
    await api.call("GET", `/things/${newId()}`, key);
    await api.call("GET", "/nowhere", key);
    expect(answered).toEqual([
      ["getThing", 200],
      ["other", 404],
    ]);
  });

  it("to HEAD is that of GET without the body", async () => {
    const path = `/things/${newId()}`;
    const [head, get] = [await headOf(path), await api.call("GET", path, key)];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    expect((await headOf("/things/export")).status).toBe(200);
    expect((await headOf(path, api.newKey(workspaceId, { permissions: [] }))).status).toBe(403);
  });

  it("can be a file", async () => {
    const { status, body, headers } = await api.call("GET", "/things/export", key);
    expect(status).toBe(200);
    expect(body).toBe("a,b\r\n");
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="Gr__e _1_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.csv`,
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    });
  });

  it("is read with the deadlines of its endpoint, all pages of it", async () => {
    const patient = await patiently(statementLimit);
    expect(patient).not.toBe(await statementLimit());
    const answer = await api.call("GET", "/things/limits", key);
    expect(answer.body).toBe(`${patient}\n`.repeat(3));
  });
});

describe("X-Request-Id", () => {
  it("is on every response, a new UUID unless the caller sent a valid one", async () => {
    for (const [method, path, as] of [
      ["GET", `/things/${newId()}`, key],
      ["GET", "/nowhere", key],
      ["GET", "/things/%zz", null],
      ["PUT", "/things", key],
      ["GET", "/things", null],
    ] as const) {
      const { headers } = await api.call(method, path, as);
      expect(isUuid(headers.get("x-request-id") ?? "")).toBe(true);
    }
  });

  it("is that of the caller if it is short and plain, also for the handler", async () => {
    const send = (id: string) => api.call("POST", "/things", key, { name: "x" }, { "X-Request-Id": id });
    const { headers, body } = await send("order-7.a:b_c");
    expect(headers.get("x-request-id")).toBe("order-7.a:b_c");
    expect(body.data.id).toBe("order-7.a:b_c");
    for (const insane of ["x".repeat(101), "a b", "<script>", "a\tb"]) {
      expect((await send(insane)).headers.get("x-request-id")).not.toBe(insane);
    }
  });
});

describe("the order of checks", () => {
  it("is key, suspension, scope, body", async () => {
    const suspended = api.newKey(workspaceId, { isSuspended: true, permissions: [] });
    const scopeless = api.newKey(workspaceId, { permissions: ["other:read"] });
    const codeFor = async (as: string | null) => (await api.call("POST", "/things", as, "{")).body.code;
    expect(await codeFor(null)).toBe("UNAUTHORIZED");
    expect(await codeFor(suspended)).toBe("SERVICE_SUSPENDED");
    expect(await codeFor(scopeless)).toBe("INSUFFICIENT_SCOPE");
    expect(await codeFor(key)).toBe("VALIDATION_ERROR");
  });

  it("names exactly the missing permission", async () => {
    const reader = api.newKey(workspaceId, { permissions: ["things:read"] });
    const { status, body } = await api.call("POST", "/things", reader, { name: "x" });
    expect(status).toBe(403);
    expect(body).toEqual({ ...failed("INSUFFICIENT_SCOPE"), required_scopes: ["things:write"] });
  });
});

describe("a path", () => {
  it("that does not exist is 401 without a key and 404 with one", async () => {
    for (const path of ["/nowhere", "", "/", "/Things", "//things", "/things/a/b/c"]) {
      expect((await api.call("GET", path, null)).body).toEqual(failed("UNAUTHORIZED"));
      const { status, body } = await api.call("GET", path, key);
      expect([status, body]).toEqual([404, failed("NOT_FOUND")]);
    }
  });

  it("outside the API is 404 in the same envelope", async () => {
    for (const path of ["/", "/nowhere", "/api", "/API/v1/things"]) {
      const response = await fetch(api.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual(failed("NOT_FOUND"));
    }
    expect(await (await fetch(`${api.url}/page`)).text()).toBe("a page");
  });

  it("with another method is 405 with the allowed methods, after the key was checked", async () => {
    const asked: [string, string, string][] = [
      ["DELETE", "/things", "POST"],
      ["GET", "/things", "POST"],
      ["OPTIONS", "/things", "POST"],
      ["POST", `/things/${newId()}`, "GET, HEAD"],
      ["PUT", "/things/export", "GET, HEAD"],
    ];
    for (const [method, path, allow] of asked) {
      expect((await api.call(method, path, null)).status).toBe(401);
      const body = method === "POST" ? "not { even JSON" : undefined;
      const answer = await api.call(method, path, key, body);
      expect(answer.status).toBe(405);
      expect(answer.body).toEqual(failed("METHOD_NOT_ALLOWED"));
      expect(answer.headers.get("allow")).toBe(allow);
    }
    expect((await headOf("/things")).status).toBe(405);
  });

  it("may end with a slash", async () => {
    expect((await api.call("GET", `/things/${newId()}/`, key)).status).toBe(200);
  });

  it.each([
    "x",
    "0",
    "a%00b",
    "..%2f..",
    "%2e%2e",
    "1".repeat(36),
    `${newId()}x`,
    "x".repeat(500),
    "'or'1'='1",
  ])("with the malformed id %s is 404", async (id) => {
    const { status, body } = await api.call("GET", `/things/${id}`, key);
    expect([status, body]).toEqual([404, failed("NOT_FOUND")]);
  });

  it("that cannot be decoded is refused", async () => {
    const { status, body } = await api.call("GET", "/things/%zz", key);
    expect([status, body]).toEqual([404, failed("NOT_FOUND")]);
    expect((await api.call("GET", "/things/%zz", null)).status).toBe(401);
  });
});

describe("a body", () => {
  const post = (body: string | undefined, headers: Record<string, string> = {}) =>
    api.call("POST", "/things", key, body, headers);

  it.each([
    ["malformed JSON", '{"name":'],
    ["nothing", ""],
    ["an array", "[]"],
    ["a string", '"x"'],
    ["null", "null"],
    ["a wrong type", '{"name":7}'],
    ["a NUL", '{"name":"a\\u0000"}'],
    ["half a surrogate pair", '{"name":"\\ud800"}'],
    ["a required field as a prototype's", '{"__proto__":{"name":"x"}}'],
    ["100,000 levels", '{"name":'.repeat(100_000)],
  ])("that is %s is 400", async (_what, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject(failed("VALIDATION_ERROR"));
    expect(logged).toEqual([]);
  });

  it("that is missing is 400", async () => {
    expect((await api.call("POST", "/things", key)).body.error).toBe(
      "Send a JSON object as the request body",
    );
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "x"])(
    "of content type %s is 400",
    async (type) => {
      const { status, body } = await post('{"name":"x"}', { "Content-Type": type });
      expect([status, body]).toEqual([400, failed("VALIDATION_ERROR", "Send the body as application/json")]);
    },
  );

  it("may name its charset", async () => {
    expect((await post('{"name":"x"}', { "Content-Type": "application/json;charset=UTF-8" })).status).toBe(
      201,
    );
  });

  it.each(["gzip", "deflate", "br", "x"])("with Content-Encoding %s is 400", async (encoding) => {
    const { status, body } = await post('{"name":"x"}', { "Content-Encoding": encoding });
    expect([status, body.error]).toEqual([400, "Send the body uncompressed, without Content-Encoding"]);
  });

  it("over a megabyte is 413, one of a megabyte is not", async () => {
    const bodyOf = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes - 11) });
    expect((await post(bodyOf(1024 ** 2))).status).toBe(201);
    const refused = await post(bodyOf(1024 ** 2 + 1));
    expect([refused.status, refused.body]).toEqual([413, failed("PAYLOAD_TOO_LARGE")]);
  });
});

describe("a fault", () => {
  const post = (query = "") => api.call("POST", `/things${query}`, key, { name: "x" });

  it("of ours is logged with the request id, and the caller gets no details", async () => {
    fault = new Error('syntax error at or near "secret"');
    const { status, body, headers } = await post("?search=ada@example.test");
    expect([status, body]).toEqual([
      500,
      failed("INTERNAL_ERROR", "Something failed on our side; retry shortly"),
    ]);
    expect(logged).toEqual([
      expect.objectContaining({
        msg: "request failed",
        request_id: headers.get("x-request-id"),
        method: "POST",
        path: "/api/v1/things",
      }),
    ]);
    expect(JSON.stringify(logged)).toContain("secret");
  });

  it.each([undefined, null, "text", 7, {}])("may be any thrown thing: %j", async (thrown) => {
    fault = thrown === undefined ? Object.create(null) : thrown;
    expect((await post()).status).toBe(500);
  });

  it.each(["ECONNREFUSED", "EHOSTUNREACH", "ETIMEDOUT", "57P01", "53300", "08006", "57014"])(
    "of an absent database (%s) is 503",
    async (code) => {
      fault = Object.assign(new Error("connection lost"), { code });
      const { status, body, headers } = await post();
      expect([status, body.code, headers.get("retry-after")]).toEqual([503, "INTERNAL_ERROR", "5"]);
    },
  );

  it.each([
    "timeout expired",
    "Query read timeout",
    "Connection terminated unexpectedly",
    "Client has encountered a connection error and is not queryable",
  ])("of a database that fell silent (%s) is 503", async (message) => {
    fault = new Error(message);
    expect((await post()).status).toBe(503);
  });

  it("of the caller has its details and headers, and is not logged", async () => {
    fault = new ApiError("CONFLICT", "Taken", {
      headers: { "Retry-After": "1" },
      details: [{ field: "name", message: "name is taken" }],
      cause: new Error("hidden"),
    });
    const { status, body, headers } = await post();
    expect(status).toBe(409);
    expect(body).toEqual({
      ...failed("CONFLICT", "Taken"),
      details: [{ field: "name", message: "name is taken" }],
    });
    expect(headers.get("retry-after")).toBe("1");
    expect(logged).toEqual([]);
  });
});

describe("the audit log", () => {
  const lines: Record<string, unknown>[] = [];
  const audit = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let server: BareServer;
  let secret: string;

  beforeAll(async () => {
    server = await startBareServer(database, endpoints, { log: audit });
    secret = server.newKey(workspaceId);
  });
  beforeEach(() => {
    lines.length = 0;
  });

  /** The line of a request, which is written after its answer. */
  const lineOf = ({ headers }: { headers: Headers }) =>
    vi.waitFor(() => {
      const id = headers.get("x-request-id");
      const [line, ...more] = lines.filter(({ msg, request_id }) => msg === "answered" && request_id === id);
      expect([line === undefined, more]).toEqual([false, []]);
      return line;
    });

  it("has one line for each request: who, what, how it ended and how long it took, and never the key", async () => {
    const line = await lineOf(await server.call("GET", `/things/${newId()}?a=b`, secret));
    expect(line).toMatchObject({ level: 20, operation: "getThing", status: 200, workspace_id: workspaceId });
    expect(line?.ms).toEqual(expect.any(Number));
    expect(JSON.stringify(lines)).not.toContain(secret.slice(4));
  });

  it("has no workspace for a request that had no valid key", async () => {
    const line = await lineOf(await server.call("GET", "/things/export", `${secret}x`));
    expect(line).toMatchObject({ level: 20, operation: "exportThings", status: 401 });
    expect(line).not.toHaveProperty("workspace_id");
  });

  it("has no warnings; equal faults are logged once", async () => {
    fault = Object.assign(new Error("Query read timeout"), { name: "Silence" });
    const answers = [];
    for (let at = 0; at < 20; at++) answers.push(await server.call("POST", "/things", secret, { name: "x" }));
    answers.push(await server.call("GET", `/things/${newId()}`, secret));
    expect(answers.slice(0, 20).every(({ status }) => status === 503)).toBe(true);
    const grave = lines.filter(({ level }) => Number(level) > 20);
    expect(grave).toMatchObject([{ msg: "request failed", level: 50 }]);
    expect(await lineOf(answers[0] as never)).toMatchObject({
      level: 20,
      operation: "createThing",
      status: 503,
    });
  });
});
