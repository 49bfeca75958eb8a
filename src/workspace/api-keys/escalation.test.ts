import { expect, test } from "vitest";
import type { ApiAnswer } from "../../../test/support/api-caller.ts";
import { startService } from "../../../test/support/service.ts";
import { untilWaiting } from "../../../test/support/waiting.ts";
import { catalogueOf, permissionValues } from "./catalogue.ts";
import { hashSecret } from "./secret.ts";
import { findKey, findKeyByHash, listKeys, lockKeys, updateKey } from "./store.ts";

const service = await startService();
const { database, workspaceId } = service;
const values = [...permissionValues(catalogueOf(service.api.endpoints))];

/** Two resources and the wildcards: enough where every value would only repeat the same judgement. */
const sample = values.filter((value) => /^(\*|api_keys|reports):/.test(value));
const pairs = sample.flatMap((held) => sample.map((wanted) => [held, wanted] as const));

/** The oracle, written without the code under test: a caller holds api_keys:write and one permission more. */
function isCovered(wanted: string, held: string): boolean {
  const [resource, action] = wanted.split(":");
  const covering = [wanted, "*:*", `${resource}:*`, ...(action === "read" ? ["*:read"] : [])];
  return covering.includes(held) || covering.includes("api_keys:write");
}

interface Holder {
  readonly key: string;
  readonly id: string;
}

/** A key of the first workspace with just these permissions. */
async function holderOf(...permissions: string[]): Promise<Holder> {
  const key = await service.newKey(permissions);
  const record = await findKeyByHash(database, hashSecret(key));
  if (!record) throw new Error("no key");
  return { key, id: record.keyId };
}

/** The answer to a caller that holds `held` and needs `wanted`. */
function expectJudged(answer: ApiAnswer, held: string, wanted: string): void {
  const { code, required_scopes } = answer.body;
  const judged = isCovered(wanted, held)
    ? { status: 200, code: undefined, required_scopes: undefined }
    : { status: 403, code: "INSUFFICIENT_SCOPE", required_scopes: [wanted] };
  expect({ held, wanted, status: answer.status, code, required_scopes }).toEqual({ held, wanted, ...judged });
}

test.each(values)(
  "a key with %s makes keys with what that covers, and is told all that it does not",
  async (held) => {
    const { key } = await holderOf("api_keys:write", held);
    const covered = values.filter((wanted) => isCovered(wanted, held));
    const missing = values.filter((wanted) => !isCovered(wanted, held));
    const make = (permissions: string[]) =>
      service.call("POST", "/api-keys", { name: "Made", permissions }, { key });
    expect((await make(covered)).body.data.permissions).toEqual(covered);
    if (missing.length === 0) return;
    const refused = await make(values);
    expect([refused.status, refused.body.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(refused.body.required_scopes).toEqual(missing);
  },
);

test("a wildcard is not covered by the list of what it grants today", async () => {
  const { key } = await holderOf("api_keys:write", "api_keys:read");
  const body = { name: "Made", permissions: ["api_keys:*"] };
  expect((await service.call("POST", "/api-keys", body, { key })).status).toBe(403);
});

test("no key lifts itself or another above itself", async () => {
  for (const [held, wanted] of pairs) {
    const { key, id } = await holderOf("api_keys:write", held);
    const other = await holderOf("api_keys:write");
    for (const lifted of [other.id, id]) {
      const body = { permissions: [wanted] };
      expectJudged(await service.call("PUT", `/api-keys/${lifted}`, body, { key }), held, wanted);
    }
  }
});

test.each([
  ["regenerates", "POST", "/regenerate", undefined],
  ["extends", "PUT", "", { expires_at: null }],
  ["renames", "PUT", "", { name: "Harmless" }],
  ["reactivates", "POST", "/reactivate", undefined],
] as const)("no key %s a key stronger than itself", async (act, method, path, body) => {
  for (const [held, wanted] of pairs) {
    const { key } = await holderOf("api_keys:write", held);
    const target = await holderOf(wanted);
    if (act === "reactivates") await service.call("DELETE", `/api-keys/${target.id}`, undefined, { key });
    const before = await findKey(database, workspaceId, target.id);
    const answer = await service.call(method, `/api-keys/${target.id}${path}`, body, { key });
    expectJudged(answer, held, wanted);
    if (answer.status !== 200) expect(await findKey(database, workspaceId, target.id)).toEqual(before);
  }
});

test("a key narrows a stronger one into what it holds itself, and into nothing else", async () => {
  for (const [held, wanted] of pairs) {
    const { key } = await holderOf("api_keys:write", held);
    const target = await holderOf("*:*");
    const before = await findKey(database, workspaceId, target.id);
    const permissions = ["api_keys:write", wanted];
    const body = { permissions, name: "Narrowed", expires_at: null };
    const answer = await service.call("PUT", `/api-keys/${target.id}`, body, { key });
    expectJudged(answer, held, wanted);
    const narrowed = { ...before, name: "Narrowed", permissions: [...new Set(permissions)] };
    expect(await findKey(database, workspaceId, target.id)).toEqual(
      answer.status === 200 ? narrowed : before,
    );
  }
});

test("a key may deactivate and delete a stronger one", async () => {
  const { key } = await holderOf("api_keys:write");
  const strong = await holderOf("*:*");
  for (const path of [`/api-keys/${strong.id}`, `/api-keys/${strong.id}/permanent`]) {
    expect((await service.call("DELETE", path, undefined, { key })).status).toBe(200);
  }
});

test.each([
  [{ permissions: ["api_keys:write"] }, 403, "INSUFFICIENT_SCOPE"],
  [{ is_active: false }, 401, "UNAUTHORIZED"],
  [{ expires_at: new Date(0) }, 401, "UNAUTHORIZED"],
])("a key that becomes %j while it makes a key is judged by that", async (change, status, code) => {
  const { key, id } = await holderOf("*:*");
  const made = await database.transaction(async (tx) => {
    const [locked] = await lockKeys(tx, workspaceId, [id]);
    if (!locked) throw new Error("no key");
    await updateKey(tx, workspaceId, { ...locked, ...change });
    // Authenticated by the committed row, then waiting for the lock that this transaction holds.
    const body = { name: "Escaped", permissions: ["*:*"] };
    const answer = service.call("POST", "/api-keys", body, { key });
    await untilWaiting(database, 1);
    return { answer };
  });
  const { status: given, body } = await made.answer;
  expect([given, body.code]).toEqual([status, code]);
  const names = (await listKeys(database, workspaceId, { showInactive: true })).map(({ name }) => name);
  expect(names).not.toContain("Escaped");
});

test("keys that change each other at once all finish", async () => {
  const [one, other] = [await holderOf("*:*"), await holderOf("*:*")];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, turn) => {
      const [caller, changed] = turn % 2 ? [one, other] : [other, one];
      return service.call("PUT", `/api-keys/${changed.id}`, { name: `Turn ${turn}` }, { key: caller.key });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
