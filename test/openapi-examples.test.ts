/**
 * The examples of the API reference: for every operation the example of support/contract-examples.ts is really sent, each to a
 * workspace of its own, and src/openapi-examples.json has what was sent and answered.
 * `npm test -- test/openapi-examples.test.ts -u` writes the file; afterwards `npm run generate`.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { EVENT_STREAM } from "#platform/http/response/event-stream.ts";
import { mediaTypeOf } from "#platform/http/response/file-answer.ts";
import { endpointsForDocs } from "#processes/api.ts";
import document from "../openapi.json" with { type: "json" };
import { apiCaller } from "./support/api-caller.ts";
import { ask, bodyFor, callOf, fill, idsFor } from "./support/contract-calls.ts";
import { before, type Owner, queries, resources } from "./support/contract-examples.ts";
import { startFakeStripe } from "./support/fake-stripe.ts";
import { startOpenIdProvider } from "./support/openid-provider.ts";
import { startService, type TestService } from "./support/service.ts";
import { RECORDED_AT, StableValues } from "./support/stable-examples.ts";

let service: TestService;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-examples-"));
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  const stripe = await startFakeStripe();
  const openId = await startOpenIdProvider();
  service = await startService({ env: { DATA_DIR: dataDir, ...stripe.env, ...openId.env } });
});

async function record(endpoint: Endpoint) {
  const { database, clock } = service;
  clock.set(RECORDED_AT);
  const { workspaceId, key } = await service.newWorkspace();
  const person = await service.newPerson(["*:*"], {
    isOperator: true,
    workspaceId,
    confirmedAt: RECORDED_AT,
  });
  const owner: Owner = { workspaceId, call: apiCaller(() => service.url, key), person, database, clock };
  await before[endpoint.id]?.(owner);
  const ids = await idsFor(endpoint.path, owner);
  if (endpoint.method === "GET") await addRow(endpoint.path, owner, ids);
  const body = await bodyFor(endpoint, owner);
  const answer = await ask(endpoint, callOf(endpoint, owner), fill(endpoint.path, ids), body);
  if (answer.status !== (endpoint.status ?? 200)) {
    throw new Error(`${endpoint.id} answered ${answer.status} ${answer.body.error}`);
  }
  const stable = new StableValues();
  return {
    ids: ids.map((id) => stable.of(id)),
    ...(queries[endpoint.id] !== undefined && { query: queries[endpoint.id] }),
    ...(body && { body: stable.of(body instanceof FormData ? await fieldsOf(body) : body) }),
    ...(mediaTypeOf(endpoint.answer) !== EVENT_STREAM && { answer: stable.of(answer.body) }),
  };
}

/** The fields of a form, with the content of its file as text. */
async function fieldsOf(form: FormData): Promise<object> {
  const texts = Array.from(form, async ([name, value]) => [
    name,
    value instanceof Blob ? await value.text() : value,
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Creates something to list, if the path is that of a list. */
async function addRow(path: string, owner: Owner, ids: readonly string[]): Promise<void> {
  const kind = Object.keys(resources).find(
    (one) => one.replace(/\/\{\w+\}$/, "") === path && one.endsWith("}"),
  );
  if (kind !== undefined) await resources[kind]?.(owner, ids);
}

it("src/openapi-examples.json has what every operation takes and answers", async () => {
  const recorded: Record<string, unknown> = {};
  const failed: unknown[] = [];
  for (const endpoint of endpointsForDocs()) {
    recorded[endpoint.id] = await record(endpoint).catch((fault: unknown) => void failed.push(fault));
  }
  expect(failed).toEqual([]);
  await expect(`${JSON.stringify(recorded, null, 2)}\n`).toMatchFileSnapshot("../src/openapi-examples.json");
}, 300_000);

/** Operations whose samples need nothing but a key or a session, and the ids of their path. */
const sampled = [
  // By a person.
  "getSession",
  "getMe",
  "updateMe",
  "listSessions",
  "revokeSessions",
  "listWorkspaces",
  "createWorkspace",
  "startAuthenticatorApp",
  "listOperatedWorkspaces",
  "suspendWorkspace",
  "getSignInOptions",
  "requestPasswordReset",
  // By a key.
  "searchEverything",
  "createApiKey",
  "createSendingDomain",
  "createVerifiedSender",
  "createMailingList",
  "addMember",
  "createSegment",
  "previewSegment",
  "importSubscribers",
  "createSuppressionList",
  "addSuppressionEntries",
  "createWebhook",
  "updateMailingList",
  "deleteCampaign",
  "getMessage",
  "listMailingLists",
];

it.each(sampled)(
  "the sample of %s in the API reference succeeds when it is pasted into a shell",
  async (id) => {
    const endpoint = endpointsForDocs().find((one) => one.id === id);
    if (endpoint === undefined) throw new Error(`there is no operation ${id}`);
    const { database, clock } = service;
    const { workspaceId, key } = await service.newWorkspace();
    const person = await service.newPerson(["*:*"], {
      workspaceId,
      isOperator: true,
      confirmedAt: clock.now(),
    });
    const owner: Owner = { workspaceId, call: apiCaller(() => service.url, key), person, database, clock };
    const ids = await idsFor(endpoint.path, owner);
    const { source, shown } = sampleOf(endpoint);
    const command = shown.reduce(
      (text, example, place) => text.replaceAll(example, ids[place] ?? ""),
      source,
    );
    const folder = await mkdtemp(join(tmpdir(), "posthaste-sample-"));
    await writeFile(join(folder, "people.csv"), "Email\nada@example.net\n");
    await writeFile(join(folder, "cookies"), cookieFile(person.token));
    const { stdout } = await promisify(execFile)(
      "sh",
      ["-c", `${command.replaceAll("https://mail.example.com", service.url)} -s -w '\n%{http_code}'`],
      { cwd: folder, env: { ...process.env, POSTHASTE_API_KEY: key } },
    );
    await rm(folder, { recursive: true });
    expect([stdout.split("\n").at(-1), stdout]).toEqual([String(endpoint.status ?? 200), expect.any(String)]);
  },
);

/** The file that `curl -c cookies` writes after a sign-in. */
const cookieFile = (token: string) => `#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tposthaste\t${token}\n`;

/** The sample of an operation, and the ids of its path as the document shows them. */
function sampleOf({ path, method }: Endpoint): { source: string; shown: string[] } {
  const operations: Record<string, unknown> = { ...document.paths[path as keyof typeof document.paths] };
  const operation = operations[method.toLowerCase()] as {
    "x-codeSamples": [{ source: string }];
    parameters: { in?: string; example?: string }[];
  };
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
  return { source: operation["x-codeSamples"][0].source, shown: inPath.map(({ example = "" }) => example) };
}
