/** What uses segments and custom fields: shown beside them, and named when a deletion is refused. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable } from "#platform/shapes.ts";

const userKinds = [
  "campaign",
  "autoresponder",
  "segment",
  "suppression_list",
  "import",
  "brand",
  "template",
  "workspace",
] as const;
type UserKind = (typeof userKinds)[number];

/** Users of one object that an answer lists. */
export const MOST_USERS = 20;

const ObjectUser = Type.Object(
  {
    kind: Type.Enum([...userKinds], { description: "What it is." }),
    id: described(Id, "Its id; of an import, the id of the job; of the brand, that of the workspace."),
    name: Type.String({ description: "Its name; of an import, the name of the file." }),
    mailing_list_id: nullable(described(Id, "Of a segment, the list that it is of; otherwise null.")),
    prevents_deletion: Type.Boolean({
      description: "Whether a deletion is refused (409) while this uses it.",
    }),
  },
  { $id: "ObjectUser" },
);
type ObjectUser = Static<typeof ObjectUser>;

export const UsedBy = Type.Object(
  {
    total: Type.Integer({
      description: "How many use it. What the caller may not read is counted, but not listed.",
    }),
    prevents_deletion: Type.Boolean({ description: "Whether one of them keeps it from being deleted." }),
    users: Type.Array(ObjectUser, {
      description: `The first ${MOST_USERS}, those that prevent a deletion first.`,
    }),
  },
  { $id: "UsedBy" },
);
type UsedBy = Static<typeof UsedBy>;

/** A user of one of several objects, and how many of its kind use that object. */
export interface UserRow extends Omit<ObjectUser, "kind"> {
  readonly used_id: string;
  readonly total: number;
  readonly preventing: number;
}

/** A kind of users. Those of later wings are injected. */
export interface ObjectUse<Used> {
  readonly kind: UserKind;
  /** The noun that a caller reads to see such a user. */
  readonly noun: Resource;
  /** The first users of each object, those that prevent its deletion first, then by name. */
  list(db: Queryable, workspaceId: WorkspaceId, used: readonly Used[]): Promise<UserRow[]>;
}

/**
 * What uses each object, by its id.
 * @param permissions of the caller
 */
export async function findUsers<Used>(
  db: Queryable,
  workspaceId: WorkspaceId,
  permissions: readonly string[],
  used: readonly Used[],
  uses: readonly ObjectUse<Used>[],
): Promise<(id: string) => UsedBy> {
  if (used.length === 0) return () => nothing;
  const found = await Promise.all(
    uses.map(async (use) => {
      const { kind, noun } = use;
      const isShown = missingPermissions(permissions, [permissionOf(need(noun, "read"))]).length === 0;
      const byObject = Map.groupBy(await use.list(db, workspaceId, used), ({ used_id }) => used_id);
      return { kind, isShown, byObject };
    }),
  );
  return (id) => {
    const kinds = found.flatMap(({ kind, isShown, byObject }) => {
      const rows = byObject.get(id);
      return rows === undefined ? [] : [{ kind, isShown, rows }];
    });
    const users = kinds.flatMap(({ kind, isShown, rows }) =>
      isShown
        ? rows.map(({ id: userId, name, mailing_list_id, prevents_deletion }) => ({
            kind,
            id: userId,
            name,
            mailing_list_id,
            prevents_deletion,
          }))
        : [],
    );
    return {
      total: kinds.reduce((sum, { rows }) => sum + (rows[0]?.total ?? 0), 0),
      prevents_deletion: kinds.some(({ rows }) => (rows[0]?.preventing ?? 0) > 0),
      users: users
        .toSorted((one, other) => Number(other.prevents_deletion) - Number(one.prevents_deletion))
        .slice(0, MOST_USERS),
    };
  };
}

const nothing: UsedBy = { total: 0, prevents_deletion: false, users: [] };
