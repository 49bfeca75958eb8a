/** The table of templates. Their content is in versions-store.ts. */
import sql, { empty } from "sql-template-tag";
import { containsSql } from "#platform/database/folded-sql.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MailTemplate, MailTemplateKind, TemplateSummary } from "./template.ts";
import { contentColumns } from "./versions-store.ts";

export const templateRoom: WorkspaceRowLimit = { table: sql`templates`, what: "templates", most: 1_000 };

/** A template as it is stored: what uses it is found separately. */
export type StoredTemplate = Omit<MailTemplate, "used_by">;
export type TemplateRow = Omit<TemplateSummary, "used_by">;

const summary = sql`
  t.id, t.kind, t.name, v.format, v.subject, v.preheader, t.layout_id, t.version, t.revision, t.created_at, t.updated_at`;
const withVersion = sql`
  from templates t join template_versions v
    on v.workspace_id = t.workspace_id and v.template_id = t.id and v.version = t.version`;

export interface TemplateFilter {
  readonly kind?: MailTemplateKind | undefined;
  /** A part of name or subject, case-insensitive. */
  readonly search?: string | undefined;
}

const matching = (workspaceId: WorkspaceId, { kind, search }: TemplateFilter) => sql`
  t.workspace_id = ${workspaceId} ${kind === undefined ? empty : sql`and t.kind = ${kind}`}
  ${search === undefined ? empty : sql`and ${containsSql(sql`(t.name || ' ' || v.subject)`, search)}`}`;

/** Those that were changed last come first. */
export function listTemplates(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: TemplateFilter,
  page: Page,
): Promise<TemplateRow[]> {
  return db.rows(sql`
    select ${summary} ${withVersion} where ${matching(workspaceId, filter)}
    order by t.updated_at desc, t.id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countTemplates(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: TemplateFilter,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total ${withVersion} where ${matching(workspaceId, filter)}`);
  return row?.total ?? 0;
}

/** @param without "content": html_content, mjml, design and text_content are null, and compiled_html is empty */
export function findTemplate(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  without?: "content",
): Promise<StoredTemplate | undefined> {
  return db.row(sql`
    select ${summary}, ${contentColumns(without)}, t.test_data ${withVersion}
    where t.workspace_id = ${workspaceId} and t.id = ${id}`);
}

/** The templates that a layout wraps, with their content. */
export function listTemplatesInLayout(
  db: Queryable,
  workspaceId: WorkspaceId,
  layoutId: string,
): Promise<StoredTemplate[]> {
  return db.rows(sql`
    select ${summary}, ${contentColumns()}, t.test_data ${withVersion}
    where t.workspace_id = ${workspaceId} and t.layout_id = ${layoutId} order by t.id`);
}

/**
 * Locks a layout against changes and deletion; its version, or undefined if there is no such layout.
 * @param takesMore whether also against others that put a template into it, so that those in it can be counted
 */
export async function lockLayout(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  takesMore: boolean,
): Promise<number | undefined> {
  const row = await tx.row<{ version: number }>(sql`
    select version from templates where workspace_id = ${workspaceId} and id = ${id} and kind = 'layout'
    ${takesMore ? sql`for no key update` : sql`for share`}`);
  return row?.version;
}

/** Locks templates for a change, in the order of their ids, and returns the revision of each that exists. */
export async function lockTemplates(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.rows<{ id: string; revision: number }>(sql`
    select id, revision from templates where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])
    order by id for update`);
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}

export async function countTemplatesInLayout(
  db: Queryable,
  workspaceId: WorkspaceId,
  layoutId: string,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from templates where workspace_id = ${workspaceId} and layout_id = ${layoutId}`);
  return row?.total ?? 0;
}

export async function insertTemplate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    id,
    kind,
    name,
    test_data,
    layout_id,
  }: Pick<MailTemplate, "id" | "kind" | "name" | "test_data" | "layout_id">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into templates (workspace_id, id, kind, name, test_data, version, layout_id, created_at, updated_at)
    values (${workspaceId}, ${id}, ${kind}, ${name}, ${JSON.stringify(test_data)}::json, 1, ${layout_id}::uuid,
      ${now}, ${now})`);
}

/** Changes a template that lockTemplates has locked. `version` is that of a new version, or the present one. */
export async function updateTemplate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    id,
    name,
    test_data,
    version,
    layout_id,
  }: Pick<MailTemplate, "id" | "name" | "test_data" | "version" | "layout_id">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update templates set name = ${name}, test_data = ${JSON.stringify(test_data)}::json, version = ${version},
      layout_id = ${layout_id}::uuid, revision = revision + 1, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Gives templates their next version, which has been written. */
export async function advanceVersions(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update templates set version = version + 1, revision = revision + 1, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])`);
}

/** Deletes a template with its versions. */
export async function removeTemplate(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from templates where workspace_id = ${workspaceId} and id = ${id}`);
}
