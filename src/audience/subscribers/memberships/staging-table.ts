/**
 * Where an import puts its people before they go through the door: a table that only its transaction sees. COPY into it
 * and give it to insertMembers.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable, Transaction } from "#platform/database/pool.ts";

/** The relation for Arrivals.people. */
export const staged: Sql = sql`staged_subscribers`;

const copyToStaging =
  "copy staged_subscribers (line, id, email, first_name, last_name, source, status, custom_fields) from stdin";

/** A person as Arrivals.people wants them; custom_fields is JSON text. */
export interface Staged {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string | null;
  readonly status: string | null;
  readonly custom_fields: string;
}

/** A line of COPY's text format; `line` numbers it among those that are copied together. */
export function stagedLine(line: number, id: string, person: Staged): string {
  const { email, first_name, last_name, source, status, custom_fields } = person;
  return `${line}\t${id}\t${escaped(email)}\t${escaped(first_name)}\t${escaped(last_name)}\t${escaped(source)}\t${
    status ?? "\\N"
  }\t${escaped(custom_fields)}\n`;
}

function escaped(text: string | null): string {
  if (text === null) return "\\N";
  return /[\\\t\n\r]/.test(text)
    ? text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character] ?? "")
    : text;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Makes the table for the rest of this transaction, and fills it with lines of stagedLine. */
export async function stage(
  tx: Transaction,
  lines: Iterable<Buffer | string> | AsyncIterable<Buffer | string>,
): Promise<void> {
  await tx.run(sql`
    create temp table staged_subscribers (
      line integer not null, id uuid not null, email text collate "C" not null, first_name text, last_name text,
      source text, status text, custom_fields jsonb not null
    ) on commit drop`);
  await tx.copy(copyToStaging, lines);
}

/** Takes lines out again. No two that stay may have one address. */
export async function unstage(tx: Queryable, lines: readonly number[]): Promise<void> {
  await tx.run(sql`delete from staged_subscribers where line = any(${lines}::int[])`);
}
