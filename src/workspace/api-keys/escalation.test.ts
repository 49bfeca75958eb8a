import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import type { ApiAnswer } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { catalogueOf, permissionValues } from "./permission-catalogue.ts";
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
  return { key, id: record.actor.id };
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
    if (act === "reactivates") await service.call("DELETE", `/api-keys/${target.id}`);
    const before = await findKey(database, workspaceId, target.id);
    const answer = await service.call(method, `/api-keys/${target.id}${path}`, body, { key });
    expectJudged(answer, held, wanted);
    if (answer.status !== 200) expect(await findKey(database, workspaceId, target.id)).toEqual(before);
  }
});

test.each([
  ["narrows", "PUT", "", { permissions: ["api_keys:write"] }],
  ["narrows and renames", "PUT", "", { permissions: ["api_keys:write"], name: "Harmless", expires_at: null }],
  ["deactivates", "DELETE", "", undefined],
  ["deletes", "DELETE", "/permanent", undefined],
] as const)("no key %s a key stronger than itself, active or not", async (_act, method, path, body) => {
  for (const [held, wanted] of pairs) {
    const { key } = await holderOf("api_keys:write", held);
    for (const isActive of [true, false]) {
      const target = await holderOf(wanted);
      if (!isActive) await service.call("DELETE", `/api-keys/${target.id}`);
      const before = await findKey(database, workspaceId, target.id);
      const answer = await service.call(method, `/api-keys/${target.id}${path}`, body, { key });
      expectJudged(answer, held, wanted);
      if (answer.status !== 200) expect(await findKey(database, workspaceId, target.id)).toEqual(before);
    }
  }
});

describe("the last active key with every permission", () => {
  const soon = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
  const endings = [
    ["deleted", "DELETE", "/permanent", undefined],
    ["deactivated", "DELETE", "", undefined],
    ["narrowed", "PUT", "", { permissions: ["api_keys:*"] }],
    ["made to expire", "PUT", "", { expires_at: soon }],
  ] as const;

  /** A workspace of its own, with its first key. */
  async function newOwner() {
    const owner = await service.newWorkspace();
    const keyId = (await findKeyByHash(database, hashSecret(owner.key)))?.actor.id ?? "";
    const call: typeof service.call = (method, path, body) =>
      service.call(method, path, body, { key: owner.key });
    const make = async (permissions: string[], expires_at: string | null = null) =>
      (await call("POST", "/api-keys", { name: "Another", permissions, expires_at })).body.data;
    return { ...owner, id: keyId, call, make };
  }

  test.each(endings)("is not %s, and the answer says what to do", async (_ending, method, path, body) => {
    const { id, call, make, workspaceId: own } = await newOwner();
    await make(["*:read"]);
    const inactive = await make(["*:*"]);
    await call("DELETE", `/api-keys/${inactive.id}`);
    const expired = await make(["*:*"], soon);
    await database.run(sql`update api_keys set expires_at = ${new Date(0)} where id = ${expired.id}`);
    const before = await findKey(database, own, id);
    const answer = await call(method, `/api-keys/${id}${path}`, body);
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([
      409,
      "CONFLICT",
      expect.stringContaining("make another one first"),
    ]);
    expect(await findKey(database, own, id)).toEqual(before);
  });

  test.each(endings)("is %s when another such key remains", async (_ending, method, path, body) => {
    const { id, call, make } = await newOwner();
    await make(["*:*"], soon);
    expect((await call(method, `/api-keys/${id}${path}`, body)).status).toBe(200);
  });

  test("may be renamed, given a new secret and a longer life", async () => {
    const { id, call, make } = await newOwner();
    const short = await make(["*:*"], soon);
    await call("DELETE", `/api-keys/${id}/permanent`);
    const by = { key: short.key };
    for (const change of [{ name: "Owner" }, { expires_at: null }]) {
      expect((await service.call("PUT", `/api-keys/${short.id}`, change, by)).status).toBe(200);
    }
    expect((await service.call("POST", `/api-keys/${short.id}/regenerate`, undefined, by)).status).toBe(200);
  });

  test("stays when two such keys delete each other at once", async () => {
    const { id, call, make, key, workspaceId: own } = await newOwner();
    const other = await make(["*:*"]);
    const answers = await Promise.all([
      call("DELETE", `/api-keys/${other.id}/permanent`),
      service.call("DELETE", `/api-keys/${id}/permanent`, undefined, { key: other.key }),
    ]);
    expect(key).not.toBe(other.key);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await listKeys(database, own, { showInactive: true })).toHaveLength(1);
  });
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
