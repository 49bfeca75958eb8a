/**
 * The staging table of an import: a temporary table that only its transaction sees. People are copied into it (COPY), and
 * the table is passed to insertMembers or previewMembers.
 */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable, Transaction } from "#platform/database/pool.ts";

/** The table, as MembersToAdd.people takes it. */
export const staged: Sql = sql`staged_subscribers`;

const copyToStaging =
  "copy staged_subscribers (line, id, email, first_name, last_name, source, status, custom_fields) from stdin";

/** A row of the table, as MembersToAdd.people describes it; custom_fields is JSON text. */
export interface Staged {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string | null;
  readonly status: string | null;
  readonly custom_fields: string;
}

/** A row in the text format of COPY. @param line its number among the rows that are copied together */
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

/** Creates the table for the rest of this transaction and fills it. @param lines rows as stagedLine formats them */
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

/** Removes rows: each address may remain in one row only. */
export async function unstage(tx: Queryable, lines: readonly number[]): Promise<void> {
  await tx.run(sql`delete from staged_subscribers where line = any(${lines}::int[])`);
}
