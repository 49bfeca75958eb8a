/**
 * The examples of the API reference: for every operation the example of support/contract-examples.ts is really sent, each to a
 * workspace of its own, and src/openapi-examples.json has what was sent and answered.
 * `npm test -- test/openapi-examples.test.ts -u` writes the file; afterwards `npm run generate`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { apiCaller } from "./support/api-caller.ts";
import { bodyFor, callOf, fill, idsFor } from "./support/contract-calls.ts";
import { before, type Owner, resources } from "./support/contract-examples.ts";
import { startFakeStripe } from "./support/fake-stripe.ts";
import { startService, type TestService } from "./support/service.ts";
import { RECORDED_AT, StableValues } from "./support/stable-examples.ts";

let service: TestService;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-examples-"));
  afterAll(() => rm(dataDir, { recursive: true, force: true }));
  const stripe = await startFakeStripe();
  service = await startService({ env: { DATA_DIR: dataDir, ...stripe.env } });
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
  const answer = await callOf(endpoint, owner)(endpoint.method, fill(endpoint.path, ids), body);
  if (answer.status !== (endpoint.status ?? 200)) {
    throw new Error(`${endpoint.id} answered ${answer.status} ${answer.body.error}`);
  }
  const stable = new StableValues();
  return {
    ids: ids.map((id) => stable.of(id)),
    ...(body && { body: stable.of(body) }),
    answer: stable.of(answer.body),
  };
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
