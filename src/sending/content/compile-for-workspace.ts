/** Compiles the content of a campaign or autoresponder step with the custom fields and the time zone of its workspace. */
import { listFieldNames, listFieldsInForce } from "#audience/custom-fields/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Compilation, type ContentOptions, compileContent } from "./compile.ts";
import { loadFooter } from "./load-footer.ts";
import { type CampaignContent, type ContentFault, type MessageType, readContent } from "./parse-content.ts";
import { trackingWarnings } from "./resolve-tracking-setting.ts";

/** Warnings about a draft's content: merge tags and settings without effect, and faults that will prevent sending. */
export async function contentWarnings(
  db: Queryable,
  workspaceId: WorkspaceId,
  content: CampaignContent & Parameters<typeof trackingWarnings>[0],
  listId: string | null,
): Promise<ContentFault[]> {
  if (content.html_content === null && content.text_content === null) return [];
  const { faults, warnings } = readContent(content, await fieldNames(db, workspaceId, listId));
  return [...faults, ...warnings, ...trackingWarnings(content)];
}

/** Content with its options. */
export interface Compilable extends CampaignContent {
  readonly message_type: MessageType;
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
}

export async function compileForWorkspace(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: Compilable,
  place: MailPlace,
): Promise<Compilation> {
  const isSms = campaign.message_type === "sms";
  const options = await contentOptions(db, workspaceId, campaign, place);
  return compileContent(isSms ? { ...campaign, html_content: null } : campaign, options);
}

/** What the options of a mail depend on besides the mail. */
interface MailPlace {
  /** The list that it goes to; null for none. */
  readonly listId: string | null;
  /** IANA name. */
  readonly timezone: string;
  /** False for a template that is shown as it is. */
  readonly addsFooter?: boolean;
}

/** How a mail of a campaign or step is compiled. */
export async function contentOptions(
  db: Queryable,
  workspaceId: WorkspaceId,
  { message_type, tracks_opens, tracks_clicks }: Omit<Compilable, keyof CampaignContent>,
  { listId, timezone, addsFooter = true }: MailPlace,
): Promise<ContentOptions> {
  const fields = await fieldNames(db, workspaceId, listId);
  return {
    tracksOpens: tracks_opens,
    tracksClicks: tracks_clicks,
    footer: message_type === "sms" || !addsFooter ? null : await loadFooter(db, workspaceId, listId, fields),
    fields,
    timezone,
  };
}

/** Compiles as compileForWorkspace. @throws ApiError VALIDATION_ERROR that names every fault */
export async function requireCompiled(
  ...compilable: Parameters<typeof compileForWorkspace>
): Promise<Extract<Compilation, { ok: true }>> {
  const compiled = await compileForWorkspace(...compilable);
  if (compiled.ok) return compiled;
  const [first, ...rest] = compiled.faults;
  throw first === undefined ? new ApiError("VALIDATION_ERROR") : invalid(first, ...rest);
}

/** Names of the custom fields that recipients may have: those of the list, or of all lists when it is null. */
async function fieldNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
): Promise<ReadonlySet<string>> {
  if (listId === null) return new Set(await listFieldNames(db, workspaceId));
  const fields = await listFieldsInForce(db, workspaceId, listId);
  return new Set(fields.map(({ field_name }) => field_name));
}
