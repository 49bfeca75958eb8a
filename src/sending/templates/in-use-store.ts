/** Which template shows a picture, so that it cannot be deleted meanwhile. */
import sql from "sql-template-tag";
import { mediaUseOf } from "#sending/media/media-use.ts";
import { templates } from "./template.ts";

/** Templates whose present version shows one of the pictures. */
export const mediaUsedByTemplates = mediaUseOf(
  {
    kind: "template",
    noun: templates,
    what: "Templates",
    remedy: "change or delete them",
  },
  (workspaceId, ids) => sql`
  select used.id as used_id, t.id, t.name, null::uuid as mailing_list_id, true as prevents_deletion
  from template_versions v
  join unnest(${ids}) used (id) on used.id = any (v.media_ids)
  join templates t on t.workspace_id = v.workspace_id and t.id = v.template_id and t.version = v.version
  where v.workspace_id = ${workspaceId} and v.media_ids <> '{}' and v.media_ids && ${ids}`,
);
