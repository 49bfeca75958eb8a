/** Changes of a team: its members, roles and invitations. */
import type { Database, Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockTeam } from "./teammate-store.ts";

export interface TeamChangeDeps {
  readonly db: Database;
  /** Clears the authenticator's cache of members. */
  readonly forgetKeys: () => void;
}

/** Runs the work in a transaction; changes of one team wait for each other. For changes that give or take no rights. */
export function inTeamTransaction<Result>(
  db: Database,
  workspaceId: WorkspaceId,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await lockTeam(tx, workspaceId);
    return work(tx);
  });
}

/**
 * Runs the work in a transaction; changes of one team wait for each other. Commits, then clears this process's cache of
 * members; other processes follow within two seconds.
 */
export async function changeTeam<Result>(
  { db, forgetKeys }: TeamChangeDeps,
  workspaceId: WorkspaceId,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await inTeamTransaction(db, workspaceId, work);
  forgetKeys();
  return result;
}
