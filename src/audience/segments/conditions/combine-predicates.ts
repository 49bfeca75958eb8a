/** Combines conditions with `and` and `or`. A condition that is decided beforehand is a boolean instead of SQL. */
import sql, { join, type Sql } from "sql-template-tag";

export type Predicate = Sql | boolean;

export function and(parts: readonly Predicate[]): Predicate {
  return combined(parts, " and ", false);
}

export function or(parts: readonly Predicate[]): Predicate {
  return combined(parts, " or ", true);
}

/** Negates a condition. A condition on a missing value is null, so its negation is true. */
export function isNotTrue(part: Predicate): Predicate {
  return typeof part === "boolean" ? !part : sql`(${part}) is not true`;
}

/** @param decisive the value with which one part decides the result */
function combined(parts: readonly Predicate[], word: string, decisive: boolean): Predicate {
  if (parts.includes(decisive)) return decisive;
  const open = parts.filter((part) => typeof part !== "boolean");
  if (open.length <= 1) return open[0] ?? !decisive;
  return join(
    open.map((part) => sql`(${part})`),
    word,
  );
}
