import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { startService } from "../../../test/support/service.ts";
import { catalogueOf, permissionValues } from "./catalogue.ts";
import { hashSecret } from "./secret.ts";
import { findKeyByHash, listKeys, lockKeys, updateKey } from "./store.ts";

const service = await startService();
const { database, workspaceId } = service;
const values = [...permissionValues(catalogueOf(service.api.endpoints))];

/** The oracle, written without the code under test: what one permission gives a wider or an equal one. */
function isCovered(wanted: string, held: string): boolean {
  const [resource, action] = wanted.split(":");
  return [wanted, "*:*", `${resource}:*`, action === "read" ? "*:read" : wanted].includes(held);
}

/** Runs one after another so that two cores are not flooded, eight at a time. */
async function eachPair(check: (held: string, wanted: string) => Promise<void>, of = values): Promise<void> {
  const pairs = of.flatMap((held) => of.map((wanted) => [held, wanted] as const));
  const next = pairs.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const [held, wanted] of next) await check(held, wanted);
    }),
  );
}

const keys = new Map<string, string>();

/** The secret of a key that may write keys and holds one permission more; made once for each. */
async function holder(permission: string): Promise<string> {
  const known = keys.get(permission) ?? (await service.newKey(["api_keys:write", permission]));
  keys.set(permission, known);
  return known;
}

/** A key with just this permission, and its id. */
async function target(permission: string): Promise<{ id: string; secret: string }> {
  const secret = await service.newKey([permission]);
  const record = await findKeyByHash(database, hashSecret(secret));
  if (!record) throw new Error("no key");
  return { id: record.keyId, secret };
}

beforeEach(async () => {
  for (const permission of values) await holder(permission);
});

/** What a call that needs `wanted` must be answered when the caller holds `held` beside api_keys:write. */
function expectJudged(
  answer: Awaited<ReturnType<typeof service.call>>,
  held: string,
  wanted: string,
  success: number,
): void {
  if (isCovered(wanted, held) || isCovered(wanted, "api_keys:write")) {
    expect([held, wanted, answer.status]).toEqual([held, wanted, success]);
  } else {
    expect([held, wanted, answer.status, answer.body.code, answer.body.required_scopes]).toEqual([
      held,
      wanted,
      403,
      "INSUFFICIENT_SCOPE",
      [wanted],
    ]);
  }
}

test("no key makes a key stronger than itself, for all pairs of the catalogue", { timeout: 120_000 }, () =>
  eachPair(async (held, wanted) => {
    const body = { name: "Made", permissions: [wanted] };
    expectJudged(
      await service.call("POST", "/api-keys", body, { key: await holder(held) }),
      held,
      wanted,
      201,
    );
  }),
);

/** Two resources and the wildcards stand for all: the judgement is the same function as above. */
const sample = values.filter((value) => /^(\*|api_keys|reports):/.test(value));

test("no key lifts itself or another", () =>
  eachPair(async (held, wanted) => {
    const key = await service.newKey(["api_keys:write", held]);
    const own = await findKeyByHash(database, hashSecret(key));
    const { id } = await target("api_keys:write");
    for (const lifted of [own?.keyId, id]) {
      const answer = await service.call("PUT", `/api-keys/${lifted}`, { permissions: [wanted] }, { key });
      expectJudged(answer, held, wanted, 200);
      // A key that has given up api_keys:write on itself could not go on.
      if (answer.status === 200 && lifted === own?.keyId) return;
    }
  }, sample));

test.each([
  ["regenerates", "POST", "/regenerate", undefined],
  ["extends", "PUT", "", { expires_at: null }],
  ["renames", "PUT", "", { name: "Harmless" }],
] as const)("no key %s a key stronger than itself", async (_, method, path, body) => {
  await eachPair(async (held, wanted) => {
    const { id, secret } = await target(wanted);
    const answer = await service.call(method, `/api-keys/${id}${path}`, body, { key: await holder(held) });
    expectJudged(answer, held, wanted, 200);
    if (answer.status !== 200) expect(await findKeyByHash(database, hashSecret(secret))).toBeDefined();
  }, sample);
});

test("no key reactivates a key stronger than itself, though it may deactivate and delete it", () =>
  eachPair(async (held, wanted) => {
    const key = await holder(held);
    const { id } = await target(wanted);
    expect((await service.call("DELETE", `/api-keys/${id}`, undefined, { key })).status).toBe(200);
    expectJudged(
      await service.call("POST", `/api-keys/${id}/reactivate`, undefined, { key }),
      held,
      wanted,
      200,
    );
    expect((await service.call("DELETE", `/api-keys/${id}/permanent`, undefined, { key })).status).toBe(200);
  }, sample));

test("the missing permissions are listed, and only those", async () => {
  const key = await service.newKey(["api_keys:write", "reports:read"]);
  const permissions = ["reports:read", "api_keys:read", "*:read"];
  const answer = await service.call("POST", "/api-keys", { name: "Made", permissions }, { key });
  expect(answer.body.required_scopes).toEqual(["api_keys:read", "*:read"]);
});

test("a wildcard is not covered by the list of what it grants today", async () => {
  const key = await service.newKey(["api_keys:write", "api_keys:read"]);
  const answer = await service.call(
    "POST",
    "/api-keys",
    { name: "Made", permissions: ["api_keys:*"] },
    { key },
  );
  expect(answer.body.required_scopes).toEqual(["api_keys:*"]);
});

/** Somebody in this database waits for a lock. */
const waiting = sql`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test("a key that is narrowed or switched off while it makes a key is judged by what it is then", async () => {
  for (const change of [{ permissions: ["api_keys:write"] }, { is_active: false }]) {
    const secret = await service.newKey(["*:*"], "Raced");
    const record = await findKeyByHash(database, hashSecret(secret));
    const made = await database.transaction(async (tx) => {
      const [key] = await lockKeys(tx, workspaceId, [record?.keyId ?? ""]);
      if (!key) throw new Error("no key");
      await updateKey(tx, workspaceId, { ...key, ...change });
      // Authenticated by the committed row, then waiting for this transaction's lock.
      const making = service.call(
        "POST",
        "/api-keys",
        { name: "Escaped", permissions: ["*:*"] },
        { key: secret },
      );
      while (!(await database.row(waiting)));
      return { making };
    });
    const answer = await made.making;
    expect([answer.status, answer.body.code]).toEqual(
      change.permissions ? [403, "INSUFFICIENT_SCOPE"] : [401, "UNAUTHORIZED"],
    );
  }
  const all = await listKeys(database, workspaceId, { showInactive: true });
  expect(all.map(({ name }) => name)).not.toContain("Escaped");
});

test("two keys that change each other at once both finish", async () => {
  const [one, other] = [await target("*:*"), await target("*:*")];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, turn) => {
      const [caller, changed] = turn % 2 ? [one, other] : [other, one];
      return service.call("PUT", `/api-keys/${changed.id}`, { name: `Turn ${turn}` }, { key: caller.secret });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
