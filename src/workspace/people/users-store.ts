/** SQL of users. Users belong to the installation; their memberships to workspaces. */
import sql, { type Sql } from "sql-template-tag";
import { isDuplicate, type Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type HeldRole, permissionsOfRole } from "./store.ts";

export interface User {
  readonly id: string;
  /** Normalised: unique in the installation. */
  readonly email: string;
  readonly name: string;
  /** Null: signs in with a passkey or by single sign-on, or has not chosen one yet. */
  readonly password_hash: string | null;
  /** BCP 47; null: that of the browser. */
  readonly language: string | null;
  /** IANA name; null: that of the browser. */
  readonly timezone: string | null;
  readonly preferences: Readonly<Record<string, unknown>>;
  readonly is_operator: boolean;
  readonly created_at: Date;
  readonly disabled_at: Date | null;
}

const columns = sql`id, email, name, password_hash, language, timezone, preferences, is_operator, created_at, disabled_at`;

/** @returns false when another user has the address */
export async function insertUser(tx: Queryable, user: User): Promise<boolean> {
  const made = await tx.run(sql`
    insert into users (${columns})
    values (${user.id}, ${user.email}, ${user.name}, ${user.password_hash}, ${user.language}, ${user.timezone},
      ${JSON.stringify(user.preferences)}::jsonb, ${user.is_operator}, ${user.created_at}, ${user.disabled_at})
    on conflict (email) do nothing`);
  return made === 1;
}

/** @param email normalised (normalizeAddress) */
export function findUserByEmail(db: Queryable, email: string): Promise<User | undefined> {
  return db.row(sql`select ${columns} from users where email = ${email}`);
}

export function findUser(db: Queryable, id: string): Promise<User | undefined> {
  return db.row(sql`select ${columns} from users where id = ${id}`);
}

/** Locks the user until the transaction ends, so that changes to one account happen one after another. */
export function lockUser(tx: Queryable, id: string): Promise<User | undefined> {
  return tx.row(sql`select ${columns} from users where id = ${id} for no key update`);
}

/** The first users of the installation, oldest first. @param after id of the last user of the page before */
export function listUsers(db: Queryable, after: string, most: number): Promise<User[]> {
  return db.rows(sql`select ${columns} from users where id > ${after} order by id limit ${most}`);
}

/** @returns false when another user has the new address; the transaction must then be rolled back */
export async function updateUser(
  tx: Queryable,
  id: string,
  changes: Partial<Omit<User, "id" | "created_at">>,
): Promise<boolean> {
  const { email, name, password_hash, language, timezone, preferences, is_operator, disabled_at } = changes;
  const given: [string, unknown, Sql][] = [
    ["email", email, sql`email = ${email}`],
    ["name", name, sql`name = ${name}`],
    ["password_hash", password_hash, sql`password_hash = ${password_hash}`],
    ["language", language, sql`language = ${language}`],
    ["timezone", timezone, sql`timezone = ${timezone}`],
    ["preferences", preferences, sql`preferences = ${JSON.stringify(preferences ?? {})}::jsonb`],
    ["is_operator", is_operator, sql`is_operator = ${is_operator}`],
    ["disabled_at", disabled_at, sql`disabled_at = ${disabled_at}`],
  ];
  const sets = given.filter(([, value]) => value !== undefined).map(([, , set]) => set);
  if (sets.length === 0) return true;
  const assignments = sets.reduce((all, one) => sql`${all}, ${one}`);
  try {
    return (await tx.run(sql`update users set ${assignments} where id = ${id}`)) === 1;
  } catch (fault) {
    if (isDuplicate(fault)) return false;
    throw fault;
  }
}

/** A workspace of a user, as the console shows it. */
export interface MembershipOfUser {
  readonly workspace_id: WorkspaceId;
  readonly workspace_name: string;
  readonly timezone: string;
  readonly is_suspended: boolean;
  readonly requires_second_factor: boolean;
  /** Key of a built-in role; null for one of the workspace. */
  readonly built_in_role: string | null;
  readonly role_id: string | null;
  /** Name of a role of the workspace. */
  readonly role_name: string | null;
  readonly permissions: readonly string[];
}

/** The workspaces of a user, by name. */
export async function listMembershipsOf(
  db: Queryable,
  userId: string,
  most: number,
): Promise<MembershipOfUser[]> {
  const rows = await db.rows<Omit<MembershipOfUser, "permissions"> & Pick<HeldRole, "rolePermissions">>(sql`
    select m.workspace_id, w.name as workspace_name, w.timezone, w.is_suspended, w.requires_second_factor,
      m.built_in_role, m.role_id, r.name as role_name, r.permissions as "rolePermissions"
    from memberships m join workspaces w on w.id = m.workspace_id
    left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id
    where m.user_id = ${userId} order by w.name, m.workspace_id limit ${most}`);
  return rows.map(({ rolePermissions, ...row }) => ({
    ...row,
    permissions: permissionsOfRole({ builtInRole: row.built_in_role, rolePermissions }),
  }));
}

/** Makes the user a member with a built-in role; keeps the role of a member. */
export async function insertMembership(
  tx: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
  builtInRole: string,
): Promise<void> {
  await tx.run(sql`
    insert into memberships (workspace_id, user_id, built_in_role) values (${workspaceId}, ${userId}, ${builtInRole})
    on conflict do nothing`);
}
