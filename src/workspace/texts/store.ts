/** The table of texts that workspaces have replaced. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Language } from "#platform/languages/language.ts";
import type { TextKey } from "./text-catalogue.ts";

export interface ReplacedText {
  readonly language: Language;
  readonly key: TextKey;
  readonly text: string;
  readonly updated_at: Date;
}

/** The replaced texts of a workspace in one language. */
export function listReplacedTexts(
  db: Queryable,
  workspaceId: WorkspaceId,
  language: Language,
): Promise<ReplacedText[]> {
  return db.rows(sql`
    select language, key, text, updated_at from replaced_texts
    where workspace_id = ${workspaceId} and language = ${language}`);
}

/** The replaced texts with these keys, in all languages. */
export function listReplacedWordings(
  db: Queryable,
  workspaceId: WorkspaceId,
  keys: readonly TextKey[],
): Promise<ReplacedText[]> {
  return db.rows(sql`
    select language, key, text, updated_at from replaced_texts
    where workspace_id = ${workspaceId} and key = any(${keys})`);
}

/** Stores texts by key, in place of earlier ones. */
export async function putTexts(
  tx: Queryable,
  workspaceId: WorkspaceId,
  language: Language,
  texts: ReadonlyMap<TextKey, string>,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into replaced_texts (workspace_id, language, key, text, updated_at)
    select ${workspaceId}, ${language}, key, text, ${now}
    from unnest(${[...texts.keys()]}::text[], ${[...texts.values()]}::text[]) as given (key, text)
    order by key
    on conflict (workspace_id, language, key) do update set text = excluded.text, updated_at = excluded.updated_at`);
}

export async function removeTexts(
  tx: Queryable,
  workspaceId: WorkspaceId,
  language: Language,
  keys: readonly TextKey[],
): Promise<void> {
  await tx.run(sql`
    delete from replaced_texts
    where workspace_id = ${workspaceId} and language = ${language} and key = any(${keys})`);
}
