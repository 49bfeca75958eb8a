/** The first users of each of several objects, with their numbers. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { MOST_USERS, type UserRow } from "./used-by.ts";

/**
 * @param users a statement that selects used_id, id, name, mailing_list_id and prevents_deletion of every user of one kind
 */
export function listFirstUsers(db: Queryable, users: Sql): Promise<UserRow[]> {
  return db.rows(sql`
    select used_id, id, name, mailing_list_id, prevents_deletion, total, preventing from (
      select u.*, count(*) over its as total, count(*) filter (where prevents_deletion) over its as preventing,
        row_number() over (partition by used_id order by prevents_deletion desc, name, id) as place
      from (${users}) u
      window its as (partition by used_id)
    ) ranked
    where place <= ${MOST_USERS} order by used_id, place`);
}
