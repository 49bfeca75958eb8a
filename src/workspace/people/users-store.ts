/** SQL of users. Users belong to the installation; their memberships to workspaces. */
import sql, { type Sql } from "sql-template-tag";
import { isDuplicate, type Queryable } from "#platform/database/pool.ts";

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
  /** Null: that of the system. */
  readonly theme: "light" | "dark" | null;
  /** What else the console keeps for the person. */
  readonly preferences: Readonly<Record<string, unknown>>;
  readonly is_operator: boolean;
  readonly created_at: Date;
  readonly disabled_at: Date | null;
}

const columns = sql`id, email, name, password_hash, language, timezone, theme, preferences, is_operator, created_at, disabled_at`;

/** @returns false when another user has the address */
export async function insertUser(tx: Queryable, user: User): Promise<boolean> {
  const made = await tx.run(sql`
    insert into users (${columns})
    values (${user.id}, ${user.email}, ${user.name}, ${user.password_hash}, ${user.language}, ${user.timezone}, ${user.theme},
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

/** @returns false when another user has the new address; the transaction must then be rolled back */
export async function updateUser(
  tx: Queryable,
  id: string,
  changes: Partial<Omit<User, "id" | "created_at">>,
): Promise<boolean> {
  const { email, name, password_hash, language, timezone, theme, preferences, is_operator, disabled_at } =
    changes;
  const given: [string, unknown, Sql][] = [
    ["email", email, sql`email = ${email}`],
    ["name", name, sql`name = ${name}`],
    ["password_hash", password_hash, sql`password_hash = ${password_hash}`],
    ["language", language, sql`language = ${language}`],
    ["timezone", timezone, sql`timezone = ${timezone}`],
    ["theme", theme, sql`theme = ${theme}`],
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
