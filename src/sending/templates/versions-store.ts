/** The table of the versions of templates. A version never changes; the oldest are deleted when there are too many. */
import sql, { type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { mediaIn } from "#sending/media/media-link.ts";
import { lockMedia } from "#sending/media/store.ts";
import type { TemplateVersion, TemplateVersionSummary } from "./template.ts";

/** Versions of one template. */
export const MOST_VERSIONS = 100;

/** What is wrong with the id of a template and a version of it, null for the present one, that were not found. */
export function unknownVersion(version: number | null): string {
  const kept =
    version === null ? "" : `, or version ${version} is none of its last ${MOST_VERSIONS}, which are kept`;
  return `is no template of this workspace${kept}`;
}

/** The content of a version `v`. */
export function contentColumns(without?: "content"): Sql {
  return without === undefined
    ? sql`v.html_content, v.mjml, v.design, v.text_content, v.compiled_html, v.warnings`
    : sql`null as html_content, null as mjml, null as design, null as text_content, '' as compiled_html, v.warnings`;
}

const summary = sql`
  v.id, v.version, v.cause, v.format, v.subject, v.preheader, v.layout_id, v.created_by, v.created_at`;

const columns = sql`template_id, version, id, cause, format, subject, preheader, html_content, mjml, design,
  text_content, layout_id, compiled_html, warnings, created_by, created_at`;

export function listVersions(
  db: Queryable,
  workspaceId: WorkspaceId,
  templateId: string,
  page: Page,
): Promise<TemplateVersionSummary[]> {
  return db.rows(sql`
    select ${summary} from template_versions v
    where v.workspace_id = ${workspaceId} and v.template_id = ${templateId}
    order by v.version desc limit ${page.limit} offset ${page.offset}`);
}

export async function countVersions(
  db: Queryable,
  workspaceId: WorkspaceId,
  templateId: string,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from template_versions where workspace_id = ${workspaceId} and template_id = ${templateId}`);
  return row?.total ?? 0;
}

export function findVersion(
  db: Queryable,
  workspaceId: WorkspaceId,
  templateId: string,
  id: string,
): Promise<TemplateVersion | undefined> {
  return db.row(sql`
    select ${summary}, ${contentColumns()} from template_versions v
    where v.workspace_id = ${workspaceId} and v.template_id = ${templateId} and v.id = ${id}`);
}

/** A version to write. */
export interface NewVersion extends TemplateVersion {
  readonly template_id: string;
}

/**
 * Writes versions, and deletes the oldest of their templates beyond the limit. The pictures that they show are locked, so that
 * none is deleted before the versions are there.
 */
export async function insertVersions(
  tx: Queryable,
  workspaceId: WorkspaceId,
  versions: readonly NewVersion[],
): Promise<void> {
  const column = <Value>(read: (version: NewVersion) => Value) => versions.map(read);
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const shown = versions.map(({ compiled_html }) => mediaIn(compiled_html, workspaceId));
  const kept = new Set(await lockMedia(tx, workspaceId, shown.flat()));
  const mediaIds = shown.map((ids) => `{${ids.filter((id) => kept.has(id)).join()}}`);
  await tx.run(sql`
    insert into template_versions (workspace_id, ${columns}, media_ids)
    select ${workspaceId}, ${columns}, media_ids::uuid[] from unnest(${column((one) => one.template_id)}::uuid[],
      ${column((one) => one.version)}::int[], ${column((one) => one.id)}::uuid[], ${column((one) => one.cause)}::text[],
      ${column((one) => one.format)}::text[], ${column((one) => one.subject)}::text[],
      ${column((one) => one.preheader)}::text[], ${column((one) => one.html_content)}::text[],
      ${column((one) => one.mjml)}::text[], ${column((one) => json(one.design))}::json[],
      ${column((one) => one.text_content)}::text[], ${column((one) => one.layout_id)}::uuid[],
      ${column((one) => one.compiled_html)}::text[], ${column((one) => json(one.warnings))}::jsonb[],
      ${column((one) => one.created_by)}::text[], ${column((one) => one.created_at)}::timestamptz[], ${mediaIds}::text[])
      as v (${columns}, media_ids)`);
  await tx.run(sql`
    delete from template_versions v
    using unnest(${column((one) => one.template_id)}::uuid[], ${column((one) => one.version)}::int[])
      as newest (template_id, version)
    where v.workspace_id = ${workspaceId} and v.template_id = newest.template_id
      and v.version <= newest.version - ${MOST_VERSIONS}`);
}

/** Content that is sent, by template and version. */
export interface SendableVersion {
  readonly template_id: string;
  readonly name: string;
  readonly kind: "mail" | "layout";
  readonly version: number;
  readonly subject: string;
  readonly compiled_html: string;
  readonly text_content: string | null;
}

/** @param asked version: null for the present one. Those that do not exist are missing. */
export function listSendableVersions(
  db: Queryable,
  workspaceId: WorkspaceId,
  asked: readonly { readonly id: string; readonly version: number | null }[],
): Promise<(SendableVersion & { readonly asked_version: number | null })[]> {
  return db.rows(sql`
    select v.template_id, t.name, t.kind, v.version, asked.version as asked_version, v.subject, v.compiled_html,
      v.text_content
    from unnest(${asked.map(({ id }) => id)}::uuid[], ${asked.map(({ version }) => version)}::int[]) as asked (id, version)
    join templates t on t.workspace_id = ${workspaceId} and t.id = asked.id
    join template_versions v on v.workspace_id = t.workspace_id and v.template_id = t.id
      and v.version = coalesce(asked.version, t.version)`);
}

/** A version by its number, null for the present one, with what an editor goes on with. */
export function findContentOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  version: number | null,
): Promise<(TemplateVersion & { readonly name: string; readonly kind: "mail" | "layout" }) | undefined> {
  return db.row(sql`
    select ${summary}, ${contentColumns()}, t.name, t.kind from templates t
    join template_versions v on v.workspace_id = t.workspace_id and v.template_id = t.id
      and v.version = coalesce(${version}::int, t.version)
    where t.workspace_id = ${workspaceId} and t.id = ${id}`);
}
