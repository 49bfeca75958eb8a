/** The table of pictures. */
import sql, { empty, type Sql } from "sql-template-tag";
import { containsSql } from "#platform/database/folded-sql.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PictureKind } from "./picture/picture.ts";
import type { RecodedPicture } from "./picture/recode-picture.ts";

/** A picture without its content. */
export interface MediaRow {
  readonly id: string;
  readonly name: string;
  /** Empty for a picture that says nothing. */
  readonly alt_text: string;
  readonly kind: PictureKind;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly bytes: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = sql`id, name, alt_text, kind, width, height, frames, bytes, created_at, updated_at`;

/** The list counts them all, and the measure of storage adds them up. */
export const mediaRoom: WorkspaceRowLimit = { table: sql`media`, what: "pictures", most: 10_000 };

export interface MediaFilter {
  /** Matches anywhere in the name. */
  readonly search: string | undefined;
  readonly kind: PictureKind | undefined;
}

const areWanted = (workspaceId: WorkspaceId, { search, kind }: MediaFilter): Sql => sql`
  workspace_id = ${workspaceId} ${kind === undefined ? empty : sql`and kind = ${kind}`}
  ${search === undefined ? empty : sql`and ${containsSql(sql`name`, search)}`}`;

/** Newest first. */
export function listMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: MediaFilter,
  { limit, offset, after }: Page,
): Promise<MediaRow[]> {
  return db.rows(sql`
    select ${columns} from media
    where ${areWanted(workspaceId, filter)} ${after === undefined ? empty : sql`and id < ${after}`}
    order by id desc limit ${limit} offset ${offset}`);
}

export async function countMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: MediaFilter,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from media where ${areWanted(workspaceId, filter)}`);
  return row?.total ?? 0;
}

export function findMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MediaRow | undefined> {
  return db.row(sql`select ${columns} from media where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The picture that was made of the uploaded file with this digest. */
export function findMediaOfFile(
  db: Queryable,
  workspaceId: WorkspaceId,
  sourceSha256: Buffer,
): Promise<MediaRow | undefined> {
  return db.row(sql`
    select ${columns} from media where workspace_id = ${workspaceId} and source_sha256 = ${sourceSha256}`);
}

/** A picture to store. */
export interface StoredPicture extends RecodedPicture, Pick<MediaRow, "id" | "name" | "alt_text"> {
  readonly sourceSha256: Buffer;
  /** Of the content. */
  readonly sha256: Buffer;
}

/** Undefined if there is one of the same uploaded file. */
export function insertMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  { octets, ...picture }: StoredPicture,
  now: Date,
): Promise<MediaRow | undefined> {
  return db.row(sql`
    insert into media (workspace_id, id, name, alt_text, kind, width, height, frames, bytes, source_sha256, sha256,
      content, created_at, updated_at)
    values (${workspaceId}, ${picture.id}, ${picture.name}, ${picture.alt_text}, ${picture.kind}, ${picture.width},
      ${picture.height}, ${picture.frames}, ${octets.length}, ${picture.sourceSha256}, ${picture.sha256}, ${octets},
      ${now}, ${now})
    on conflict (workspace_id, source_sha256) do nothing
    returning ${columns}`);
}

/** Undefined when it does not exist. */
export function updateMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { name, alt_text }: Partial<Pick<MediaRow, "name" | "alt_text">>,
  now: Date,
): Promise<MediaRow | undefined> {
  return db.row(sql`
    update media set name = coalesce(${name ?? null}, name), alt_text = coalesce(${alt_text ?? null}, alt_text),
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${columns}`);
}

/** Locks a picture until the transaction ends, so that nothing begins to use it. False when it does not exist. */
export async function lockMediaForRemoval(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const row = await tx.row(sql`
    select from media where workspace_id = ${workspaceId} and id = ${id} for update`);
  return row !== undefined;
}

/** The ids among these that exist, locked against removal until the transaction ends. */
export async function lockMedia(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx.rows<{ id: string }>(sql`
    select id from media where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[]) for key share`);
  return rows.map(({ id }) => id);
}

export async function removeMedia(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from media where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Content and size of a picture that is served. */
export interface ServedMedia extends Pick<MediaRow, "kind" | "bytes"> {
  readonly sha256: Buffer;
  /** The first octets of the content. */
  readonly beginning: Buffer;
}

/**
 * A picture for anyone with its address; undefined for that of a suspended workspace.
 * @param most octets of the content to read
 */
export function findServedMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  most: number,
): Promise<ServedMedia | undefined> {
  return db.row(
    sql`
    select kind, bytes, sha256, substring(content for ${most}::int) as beginning from media
    where workspace_id = ${workspaceId} and id = ${id}
      and not (select is_suspended from workspaces where id = ${workspaceId})`,
    "find served media",
  );
}

/** Undefined when it was deleted meanwhile. @param start from 0 */
export async function findMediaPart(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { start, length }: { readonly start: number; readonly length: number },
): Promise<Buffer | undefined> {
  const row = await db.row<{ part: Buffer }>(sql`
    select substring(content from ${start + 1}::int for ${length}::int) as part from media
    where workspace_id = ${workspaceId} and id = ${id}`);
  return row?.part;
}

/** What a mail attaches. */
export type MediaFile = Pick<MediaRow, "id" | "name" | "kind" | "bytes">;

export function listMediaFiles(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<MediaFile[]> {
  return db.rows(sql`
    select id, name, kind, bytes from media where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])`);
}

/** The content of pictures; the caller bounds their sizes. */
export function listMediaContents(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly content: Buffer }[]> {
  return db.rows(sql`
    select id, content from media where workspace_id = ${workspaceId} and id = any (${[...ids]}::uuid[])`);
}
