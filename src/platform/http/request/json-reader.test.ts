/** Bodies that are few bytes and many elements, and large ones: what the others see meanwhile. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Type } from "typebox";
import { expect, it } from "vitest";
import { endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const MB = 1024 ** 2;
const database = await testDatabase();
const bodies: unknown[] = [];
const api = await startBareServer(
  database,
  [
    endpoint({
      id: "createThing",
      method: "POST",
      path: "/things",
      summary: "Make a thing",
      needs: need(things, "write"),
      body: Type.Object({ name: Type.String() }),
      answer: Type.Object({}),
      message: "Made",
      bodyLimit: 30 * MB,
      async handle({ body }) {
        bodies.push(body);
        return {};
      },
    }),
  ],
  { pages: (pages) => pages.get("/healthz", async () => "ok") },
);
const key = api.newKey(await insertBareWorkspace(database));

const bomb = (element: string, bytes = 29 * MB) =>
  `{"name":"x","unknown":[${Array(Math.floor(bytes / (element.length + 1)))
    .fill(element)
    .join(",")}]}`;
const keys = () => {
  const fields = Array.from({ length: 3_000_000 }, (_, at) => `"${at.toString(36)}":1`);
  return `{"name":"x","unknown":{${fields.join(",")}}}`;
};
const bombs: [what: string, make: () => string, error: RegExp][] = [
  ["objects", () => bomb("{}"), /more than 100,000 values and field names/],
  ["nested arrays", () => bomb("[[[[[[]]]]]]"), /more than 100,000 values and field names/],
  ["texts", () => bomb('""'), /more than 100,000 values and field names/],
  ["numbers", () => bomb("1"), /more than 100,000 values and field names/],
  ["keys", keys, /more than 100,000 values and field names/],
  ["levels", () => `{"name":${"[".repeat(14 * MB)}${"]".repeat(14 * MB)}}`, /nested deeper than 64 levels/],
  ["blanks", () => `{"name":${" ".repeat(29 * MB)}`, /not valid JSON/],
  ["quotes", () => `{"name":"${'\\"'.repeat(14 * MB)}`, /not valid JSON/],
];

it.each(bombs)("29 MB of %s are 400, and the others are answered meanwhile", async (_what, make, error) => {
  const text = make();
  expect(text.length).toBeLessThan(30 * MB);
  // What the client makes of the text is not the server's work, though it is done on the same event loop here.
  const bytes = Buffer.from(text);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const sent = fetch(`${api.url}/api/v1/things`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: bytes,
  });
  delay.enable();
  const answer = await sent;
  delay.disable();
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(error)]);
  expect(delay.max / 1e6).toBeLessThan(2_000);
});

it("while large bodies of one workspace wait, the body of another is read", async () => {
  const other = api.newKey(await insertBareWorkspace(database));
  let open = 0;
  const waiting = Array.from({ length: 8 }, async () => {
    open += 1;
    await api.call("POST", "/things", key, bomb("{}", 290_000));
    open -= 1;
  });
  const { status } = await api.call("POST", "/things", other, { name: "x".repeat(MB) });
  expect(status).toBe(200);
  expect(open).toBeGreaterThan(0);
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  await Promise.all(waiting);
});

it("a body of few bytes with 100,000 elements is accepted, one with more is refused", async () => {
  // Two fields, one array.
  const numbers = (count: number) => `{"name":"x","numbers":[${Array(count).fill(1).join(",")}]}`;
  expect((await api.call("POST", "/things", key, numbers(100_000 - 5))).status).toBe(200);
  expect((await api.call("POST", "/things", key, numbers(100_000 - 4))).status).toBe(400);
});

it("a large body is parsed and refused like a small one", async () => {
  bodies.length = 0;
  const name = "é日😀".repeat(100_000);
  const whole = { name, list: [1, { a: null }], flag: true };
  expect((await api.call("POST", "/things", key, whole)).status).toBe(200);
  expect(bodies).toEqual([whole]);
  const long = "x".repeat(MB);
  for (const [text, field, error] of [
    [`{"name":"${long}","deep":{"list":["\\u0000"]}}`, "deep.list[0]", /NUL characters/],
    [`{"name":"${long}","n":9007199254740993}`, "n", /send it as text/],
    [`{"name":"${long}","a":1,"a":2}`, undefined, /same field twice/],
    [`{"name":"${long}`, undefined, /not valid JSON/],
    [
      Buffer.concat([Buffer.from(`{"name":"${long}`), Buffer.from([0xff, 0x22, 0x7d])]),
      undefined,
      /in UTF-8/,
    ],
  ] as const) {
    const response = await fetch(`${api.url}/api/v1/things`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: text,
    });
    const body = (await response.json()) as { error: string; details?: { field: string }[] };
    expect([response.status, body.details?.[0]?.field]).toEqual([400, field]);
    expect(body.error).toMatch(error);
  }
});
