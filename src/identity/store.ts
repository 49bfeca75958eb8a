/** What the hot path asks of sending domains and verified senders together. */
import sql from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";

export interface SenderOfWorkspace {
  readonly workspaceId: WorkspaceId;
  /** Lower-case. */
  readonly email: string;
  readonly domain: string;
}

export interface SenderStanding {
  /** Ownership of the domain is proved. */
  readonly by_domain: boolean;
  /** The owner of the address confirmed. */
  readonly by_sender: boolean;
  /** An administrator switched the domain off. */
  readonly is_switched_off: boolean;
}

/** For each asked sender, in the order asked. Two look-ups by unique index for each. */
export function listSenderStandings(
  db: Queryable,
  asked: readonly SenderOfWorkspace[],
): Promise<SenderStanding[]> {
  return db.rows(
    sql`
    select coalesce(own.is_verified, false) as by_domain,
      coalesce(sender.is_verified, false) as by_sender,
      own.is_active is false as is_switched_off
    from unnest(${asked.map((one) => one.workspaceId)}::uuid[], ${asked.map((one) => one.email)}::text[],
      ${asked.map((one) => one.domain)}::text[]) with ordinality as asked (workspace_id, email, domain, position)
    left join sending_domains as own using (workspace_id, domain)
    left join verified_senders as sender on sender.workspace_id = asked.workspace_id and sender.email = asked.email
    order by asked.position`,
    "sender standings",
  );
}
