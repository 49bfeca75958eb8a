/** SQL that compares text without regard to case, by the collation `case_folding`. */
import sql, { type Sql } from "sql-template-tag";
import { foldText } from "./fold-text.ts";

/** A text in lower case, as foldCase makes it. */
export function foldedSql(text: Sql): Sql {
  return sql`lower(${text} collate case_folding)`;
}

/** Whether a text contains a part. */
export function containsSql(text: Sql, part: string): Sql {
  return sql`position(${foldText(part)} in ${foldedSql(text)}) > 0`;
}
