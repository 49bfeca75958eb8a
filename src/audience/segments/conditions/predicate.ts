/** Conditions of a statement, put together with `and` and `or`. One that is decided beforehand is no SQL any more. */
import sql, { join, type Sql } from "sql-template-tag";

export type Predicate = Sql | boolean;

export function and(parts: readonly Predicate[]): Predicate {
  return combined(parts, " and ", false);
}

export function or(parts: readonly Predicate[]): Predicate {
  return combined(parts, " or ", true);
}

/** What the condition does not hold for, null included: where a value is missing, nothing holds. */
export function isNotTrue(part: Predicate): Predicate {
  return typeof part === "boolean" ? !part : sql`(${part}) is not true`;
}

/** `decisive` is the value that one part alone settles all with. */
function combined(parts: readonly Predicate[], word: string, decisive: boolean): Predicate {
  if (parts.includes(decisive)) return decisive;
  const open = parts.filter((part) => typeof part !== "boolean");
  if (open.length <= 1) return open[0] ?? !decisive;
  return join(
    open.map((part) => sql`(${part})`),
    word,
  );
}
