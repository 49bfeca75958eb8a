/** The steps of autoresponders, and their contents. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockMediaIn } from "#sending/media/media-use.ts";
import type { AutoresponderStep } from "./autoresponder.ts";
import type { StepContent } from "./read-autoresponder-body.ts";

export interface StepRow extends Omit<AutoresponderStep, "delay"> {
  readonly delay_minutes: number;
  readonly content_id: string;
  readonly mailing_list_id: string;
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
}

/** In order of position, without removed steps. */
export function listSteps(
  db: Queryable,
  workspaceId: WorkspaceId,
  autoresponderId: string,
): Promise<StepRow[]> {
  return db.rows(sql`
    select s.id, s.delay_minutes, s.content_id, c.subject, c.html_content, c.text_content, c.mjml, c.design,
      c.template_id, c.template_version, c.warnings, c.mailing_list_id, c.tracks_opens, c.tracks_clicks
    from autoresponder_steps s
    join autoresponder_contents c on c.workspace_id = s.workspace_id and c.id = s.content_id
    where s.workspace_id = ${workspaceId} and s.autoresponder_id = ${autoresponderId} and s.position is not null
    order by s.position`);
}

export async function insertContent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  place: { readonly id: string; readonly autoresponderId: string; readonly mailingListId: string },
  content: StepContent,
): Promise<void> {
  const { links } = content;
  const mediaIds = await lockMediaIn(tx, workspaceId, content.html_content);
  await tx.run(sql`
    with links as (
      insert into autoresponder_links (workspace_id, content_id, index, url, is_personal)
      select ${workspaceId}, ${place.id}, * from unnest(${links.map((_, index) => index)}::smallint[],
        ${links.map(({ url }) => url)}::text[], ${links.map(({ personal }) => personal)}::boolean[])
    )
    insert into autoresponder_contents (workspace_id, id, autoresponder_id, mailing_list_id, subject, html_content,
      text_content, mjml, design, template_id, template_version, tracks_opens, tracks_clicks, warnings, media_ids)
    values (${workspaceId}, ${place.id}, ${place.autoresponderId}, ${place.mailingListId}, ${content.subject},
      ${content.html_content}, ${content.text_content}, ${content.mjml},
      ${content.design === null ? null : JSON.stringify(content.design)}::json, ${content.template_id}::uuid,
      ${content.template_version}::integer, ${content.tracks_opens}, ${content.tracks_clicks},
      ${JSON.stringify(content.warnings)}::jsonb, ${mediaIds})`);
}

/** A step as it will be stored; `position` is null for a removed step. */
export interface PlacedStep {
  readonly id: string;
  readonly position: number | null;
  /** For a removed step: the step with which waiting runs continue. */
  readonly successorId: string | null;
  readonly delayMinutes: number;
  readonly contentId: string;
}

export async function upsertSteps(
  tx: Queryable,
  workspaceId: WorkspaceId,
  autoresponderId: string,
  steps: readonly PlacedStep[],
): Promise<void> {
  const column = <Value>(read: (step: PlacedStep) => Value) => steps.map(read);
  await tx.run(sql`
    insert into autoresponder_steps (workspace_id, autoresponder_id, id, position, successor_id, delay_minutes, content_id)
    select ${workspaceId}, ${autoresponderId}, * from unnest(${column((one) => one.id)}::uuid[],
      ${column((one) => one.position)}::smallint[], ${column((one) => one.successorId)}::uuid[],
      ${column((one) => one.delayMinutes)}::int[], ${column((one) => one.contentId)}::uuid[])
    on conflict (workspace_id, autoresponder_id, id) do update
    set position = excluded.position, successor_id = excluded.successor_id, delay_minutes = excluded.delay_minutes,
      content_id = excluded.content_id`);
}
