/** Which autoresponder shows a picture, so that it cannot be deleted meanwhile. */
import sql from "sql-template-tag";
import { mediaUseOf } from "#sending/media/media-use.ts";
import { autoresponders } from "./autoresponder.ts";

/** Autoresponders that show one of the pictures in a step. */
export const mediaUsedByAutoresponders = mediaUseOf(
  {
    kind: "autoresponder",
    noun: autoresponders,
    what: "Autoresponders",
    remedy: "change their steps",
  },
  (workspaceId, ids) => sql`
  select distinct used.id as used_id, a.id, a.name, null::uuid as mailing_list_id, true as prevents_deletion
  from autoresponder_contents c
  join unnest(${ids}) used (id) on used.id = any (c.media_ids)
  join autoresponder_steps s on s.workspace_id = c.workspace_id and s.autoresponder_id = c.autoresponder_id
    and s.content_id = c.id and s.position is not null
  join autoresponders a on a.workspace_id = c.workspace_id and a.id = c.autoresponder_id
  where c.workspace_id = ${workspaceId} and c.media_ids <> '{}' and c.media_ids && ${ids}`,
);
