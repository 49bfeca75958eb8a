/** What operators change on users, over HTTP and from the command line. */
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import {
  findInstallationUser,
  hasOtherOperator,
  type InstallationUser,
  lockOperators,
  updateInstallationUser,
} from "./installation-users-store.ts";

/** @throws ApiError NOT_FOUND; CONFLICT when no operator who can sign in would be left */
export async function changeInstallationUser(
  tx: Queryable,
  id: string,
  changes: Partial<Pick<InstallationUser, "is_operator" | "is_disabled">>,
  now: Date,
): Promise<InstallationUser> {
  await lockOperators(tx);
  const user = required(await findInstallationUser(tx, id), "User");
  const after = { ...user, ...changes };
  const wasActing = user.is_operator && !user.is_disabled;
  const isActing = after.is_operator && !after.is_disabled;
  if (wasActing && !isActing && !(await hasOtherOperator(tx, user.id))) {
    throw new ApiError("CONFLICT", "This is the last operator: make another user an operator first");
  }
  await updateInstallationUser(tx, user.id, after, now);
  return required(await findInstallationUser(tx, user.id), "User");
}
