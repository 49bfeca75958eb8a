/** SQL with which operators see and change the users of the installation. */
import sql, { empty, type Sql } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";

export interface InstallationUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly is_operator: boolean;
  readonly is_disabled: boolean;
  readonly workspace_count: number;
  readonly last_seen_at: Date | null;
  readonly created_at: Date;
}

export interface UserFilter {
  readonly search: string | undefined;
  readonly is_operator: boolean | undefined;
}

const selected = sql`
  select u.id, u.email, u.name, u.is_operator, u.disabled_at is not null as is_disabled, u.created_at,
    (select count(*) from workspace_members m where m.user_id = u.id) as workspace_count,
    (select max(seen_at) from sessions s where s.user_id = u.id) as last_seen_at
  from users u`;

/** Newest first. */
export function listInstallationUsers(
  db: Queryable,
  filter: UserFilter,
  { limit, offset, after }: Page,
): Promise<InstallationUser[]> {
  return db.rows(sql`
    ${selected} where ${matching(filter)} ${after === undefined ? empty : sql`and u.id < ${after}`}
    order by u.id desc limit ${limit} offset ${offset}`);
}

export async function countInstallationUsers(db: Queryable, filter: UserFilter): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`select count(*) as total from users u where ${matching(filter)}`,
  );
  return row?.total ?? 0;
}

export function findInstallationUser(db: Queryable, id: string): Promise<InstallationUser | undefined> {
  return db.row(sql`${selected} where u.id = ${id}`);
}

function matching({ search, is_operator }: UserFilter): Sql {
  const found =
    search === undefined
      ? sql`true`
      : sql`(strpos(lower(u.name), lower(${search})) > 0 or strpos(u.email, lower(${search})) > 0
          or u.id::text = lower(${search}))`;
  return is_operator === undefined ? found : sql`${found} and u.is_operator = ${is_operator}`;
}

/** Makes other changes of operators wait for the end of the transaction. */
export async function lockOperators(tx: Queryable): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey("operators of the installation")})`);
}

/** Whether another user is an operator who can sign in. */
export async function hasOtherOperator(tx: Queryable, id: string): Promise<boolean> {
  const row = await tx.row(sql`
    select from users where is_operator and disabled_at is null and id <> ${id} limit 1`);
  return row !== undefined;
}

/** Disabling a user ends their sessions. */
export async function updateInstallationUser(
  tx: Queryable,
  id: string,
  { is_operator, is_disabled }: Pick<InstallationUser, "is_operator" | "is_disabled">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update users set is_operator = ${is_operator},
      disabled_at = case when ${is_disabled}::boolean then coalesce(disabled_at, ${now}::timestamptz) end
    where id = ${id}`);
  if (is_disabled) await tx.run(sql`delete from sessions where user_id = ${id}`);
}
