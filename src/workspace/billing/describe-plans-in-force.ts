/** The plans of an installation's workspaces, as a sentence for the operator. */
import type { Queryable } from "#platform/database/pool.ts";
import type { Plan, Plans } from "./plans.ts";
import { countPlansInForce } from "./subscription-store.ts";

export async function plansInForce(db: Queryable, plans: Plans, now: Date): Promise<string> {
  const counts = await countPlansInForce(db, now);
  const all = counts.reduce((sum, { workspaces }) => sum + workspaces, 0);
  const [only] = counts;
  if (only === undefined) return "there is no workspace yet";
  if (all === 1) return `${only.plan} for the workspace "${only.name}": ${volumeOf(plans[only.plan])}`;
  const each = counts.map(
    ({ plan, workspaces }) =>
      `${workspaces} ${workspaces === 1 ? "has" : "have"} ${plan} (${volumeOf(plans[plan])})`,
  );
  return `of ${all} workspaces ${each.join(", ")}`;
}

function volumeOf({ allowances }: Plan): string {
  return allowances.email === null ? "unlimited" : `${allowances.email.toLocaleString("en")} emails a month`;
}
