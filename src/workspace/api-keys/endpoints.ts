/** API keys over HTTP. escalation.ts limits the changes that one key may make to another. */
import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { flagField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Deleted, nullable } from "#platform/shapes.ts";
import { LONGEST_NAME, readName } from "#workspace/read-display-name.ts";
import { ApiKey, apiKeysResource, IssuedKey } from "./api-key.ts";
import { lockCaller, lockForChange, requireChangeable } from "./escalation.ts";
import { issueKey } from "./issue.ts";
import { catalogueOf, PermissionCatalogue, readPermissions } from "./permission-catalogue.ts";
import { readExpiry } from "./read-expiry.ts";
import { newSecret, prefixOf } from "./secret.ts";
import { apiKeyRoom, findKey, listKeys, removeKey, updateKey, updateSecret } from "./store.ts";

const NewApiKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Name for display." }),
    permissions: Type.Array(Type.String(), { minItems: 1, description: "Values from the catalogue." }),
    expires_at: Type.Optional(
      nullable(Type.String({ description: "ISO 8601, in the future; null or absent: never." })),
    ),
  },
  { $id: "NewApiKey" },
);

const ApiKeyChanges = Type.Partial(NewApiKey, { $id: "ApiKeyChanges" });

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** All endpoints of the API, from which the catalogue is derived. */
  readonly endpoints: () => readonly Endpoint[];
  /** Clears the authenticator's cache of key records. */
  readonly forgetKeys: () => void;
  /** Called in the transaction that deletes a key permanently. */
  readonly onRemoved: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    key: { readonly id: string; readonly name: string },
  ) => Promise<void>;
}

export function apiKeyEndpoints({ db, clock, endpoints, forgetKeys, onRemoved }: Dependencies): Endpoint[] {
  /** Commits, then clears this process's cache of key records; other processes follow within two seconds. */
  async function change<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    const result = await db.transaction(work);
    forgetKeys();
    return result;
  }

  const permissionsOf = (given: readonly string[]) => readPermissions(given, catalogueOf(endpoints()));
  const expiryOf = (given: string | null) => (given === null ? null : readExpiry(given, clock.now()));

  return [
    endpoint({
      id: "listApiKeys",
      method: "GET",
      path: "/api-keys",
      summary: "API keys of the workspace, newest first",
      description:
        "All keys of the workspace, active or not, without their secrets. `key_prefix` tells them apart.",
      needs: need(apiKeysResource, "read"),
      query: { show_inactive: flagField(false, "Lists deactivated keys as well.") },
      answer: Type.Array(ApiKey),
      message: "API keys",
      handle: ({ caller, query }) => listKeys(db, caller.workspaceId, { showInactive: query.show_inactive }),
    }),
    endpoint({
      id: "listPermissions",
      method: "GET",
      path: "/api-keys/permissions",
      summary: "Permission catalogue: every value a key can hold",
      description:
        "Every permission string that a key can have, with labels for people, wildcards and presets. It is derived from the operations of the running service, so that a page of key settings is never out of date.",
      needs: "authenticated",
      answer: PermissionCatalogue,
      message: "Permission catalogue",
      handle: async () => catalogueOf(endpoints()),
    }),
    endpoint({
      id: "getApiKey",
      method: "GET",
      path: "/api-keys/{id}",
      summary: "One API key, active or not",
      description: "A key without its secret. `last_used_at` helps to find keys that are no longer used.",
      needs: need(apiKeysResource, "read"),
      answer: ApiKey,
      message: "API key",
      async handle({ caller, params }) {
        const key = await findKey(db, caller.workspaceId, params.id);
        if (!key) throw notFound("API key");
        return key;
      },
    }),
    endpoint({
      id: "createApiKey",
      method: "POST",
      path: "/api-keys",
      summary: "Create an API key; only this answer has the secret",
      description:
        "The answer has the secret (`efk_…`), which is stored only as a hash and never shown again. A key cannot create a key with more permissions than its own. A workspace has at most 1,000 keys.",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      body: NewApiKey,
      answer: IssuedKey,
      status: 201,
      message: "API key created; its secret is not shown again",
      errors: ["BAD_REQUEST"],
      handle({ caller, body }) {
        const settings = {
          name: readName(body.name),
          permissions: permissionsOf(body.permissions),
          expires_at: expiryOf(body.expires_at ?? null),
        };
        return change(async (tx) => {
          const own = await lockCaller(tx, caller, clock.now());
          requirePermissions(own, settings.permissions);
          await requireBelowRowLimit(tx, caller.workspaceId, apiKeyRoom);
          return issueKey(tx, caller.workspaceId, settings, clock.now());
        });
      },
    }),
    endpoint({
      id: "updateApiKey",
      method: "PUT",
      path: "/api-keys/{id}",
      summary: "Change name, permissions or expiry; omitted fields stay",
      description:
        "The secret does not change. It works on a key that is active; a key cannot change a key with more permissions than its own (403), and the last active key with every permission cannot lose any (409).",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      body: ApiKeyChanges,
      answer: ApiKey,
      message: "API key updated",
      errors: ["CONFLICT"],
      handle({ caller, params, body }) {
        const changes = {
          ...(body.name !== undefined && { name: readName(body.name) }),
          ...(body.permissions && { permissions: permissionsOf(body.permissions) }),
          ...(body.expires_at !== undefined && { expires_at: expiryOf(body.expires_at) }),
        };
        return change(async (tx) => {
          const change = await lockForChange(tx, caller, clock.now(), params.id);
          const changed = { ...change.key, ...changes };
          requireChangeable(change, changed, clock.now());
          await updateKey(tx, caller.workspaceId, changed);
          return changed;
        });
      },
    }),
    endpoint({
      id: "regenerateApiKey",
      method: "POST",
      path: "/api-keys/{id}/regenerate",
      summary: "Give an active key a new secret; the old one stops working at once",
      description:
        "Use it after a secret may have leaked. The old secret stops working within two seconds on every machine. To rotate without a gap, create a second key, deploy it, then deactivate the first.",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      answer: IssuedKey,
      errors: ["CONFLICT"],
      message: "New secret created; it is not shown again, and the old one has stopped working",
      handle({ caller, params }) {
        return change(async (tx) => {
          const { own, key } = await lockForChange(tx, caller, clock.now(), params.id);
          requirePermissions(own, key.permissions);
          if (!key.is_active) {
            throw new ApiError("CONFLICT", "The API key is deactivated: reactivate it first");
          }
          const secret = newSecret();
          await updateSecret(tx, caller.workspaceId, key.id, secret);
          return { ...key, key_prefix: prefixOf(secret), key: secret };
        });
      },
    }),
    endpoint({
      id: "deactivateApiKey",
      method: "DELETE",
      path: "/api-keys/{id}",
      summary: "Deactivate a key; it can be reactivated",
      description:
        "Requests with the key are answered 401 within two seconds. Messages that were accepted with it are still sent. The last active key with every permission is refused (409).",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      answer: ApiKey,
      message: "API key deactivated",
      errors: ["CONFLICT"],
      handle({ caller, params }) {
        return change(async (tx) => {
          const change = await lockForChange(tx, caller, clock.now(), params.id);
          const inactive = { ...change.key, is_active: false };
          requireChangeable(change, inactive, clock.now());
          await updateKey(tx, caller.workspaceId, inactive);
          return inactive;
        });
      },
    }),
    endpoint({
      id: "reactivateApiKey",
      method: "POST",
      path: "/api-keys/{id}/reactivate",
      summary: "Reactivate a key, with its old secret",
      description:
        "The key works again with the secret that it had. An expired key needs a later expiry first.",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      answer: ApiKey,
      message: "API key reactivated",
      handle({ caller, params }) {
        return change(async (tx) => {
          const { own, key } = await lockForChange(tx, caller, clock.now(), params.id);
          requirePermissions(own, key.permissions);
          const active = { ...key, is_active: true };
          await updateKey(tx, caller.workspaceId, active);
          return active;
        });
      },
    }),
    endpoint({
      id: "deleteApiKey",
      method: "DELETE",
      path: "/api-keys/{id}/permanent",
      summary: "Delete a key permanently, active or not",
      description:
        "The key stops working and leaves the list; its name stays in reports and in the message log. The last active key with every permission is refused (409).",
      needs: need(apiKeysResource, "write"),
      confirmed: true,
      answer: Deleted,
      message: "API key deleted",
      errors: ["CONFLICT"],
      handle({ caller, params }) {
        return change(async (tx) => {
          const change = await lockForChange(tx, caller, clock.now(), params.id);
          requireChangeable(change, null, clock.now());
          const { id, name } = change.key;
          await removeKey(tx, caller.workspaceId, id);
          await onRemoved(tx, caller.workspaceId, { id, name });
          return { id: params.id, deleted: true } as const;
        });
      },
    }),
  ];
}
