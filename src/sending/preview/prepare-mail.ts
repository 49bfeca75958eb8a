/** What a preview and a check need to write a mail: the person as whom it is written, and how the mail is composed. */
import type { CountryCode } from "libphonenumber-js";
import { subscribers } from "#audience/subscribers/permission.ts";
import type { FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { domainOf } from "#mail/address.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { missingPermissions, requirePermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { contentOptions } from "#sending/content/compile-for-workspace.ts";
import {
  type ChosenPerson,
  firstOfAudience,
  samplePerson,
  subscriberAs,
} from "#sending/mail/choose-person.ts";
import { findAttachments } from "#sending/mail/presend-store.ts";
import { fieldError } from "#sending/mail-fields.ts";
import { withMergeData } from "#sending/templates/merge-data.ts";
import type { LoadedMail } from "./load-mail.ts";
import type { MailToRender } from "./render-mail.ts";
import type { RenderOrder } from "./rendered-mail.ts";

/** Subscribers are personal data, which a key for campaigns alone does not see. */
const READ_PEOPLE = permissionOf(need(subscribers, "read"));

export interface MailComposing {
  readonly db: Database;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
  readonly findIdentity: FindIdentity;
  /** The base URL of links in mail. */
  readonly linkBase: (workspaceId: WorkspaceId, urlDomainId: string | null) => Promise<string>;
  /** Null when the service receives no mail. */
  readonly bounceDomain: string | null;
  /** The country of telephone numbers without a country code. */
  readonly smsCountry: CountryCode | null;
}

/** @throws ApiError VALIDATION_ERROR for an unknown subscriber, INSUFFICIENT_SCOPE */
export async function choosePerson(
  db: Database,
  caller: Caller,
  { subscriber_id, sample }: Pick<RenderOrder, "subscriber_id" | "sample">,
  { audience, listId, data }: LoadedMail,
  now: Date,
): Promise<ChosenPerson> {
  const { workspaceId } = caller;
  if (subscriber_id != null) {
    if (sample) throw fieldError("sample", "and subscriber_id exclude each other: give one");
    requirePermissions(caller, [READ_PEOPLE]);
    const person = await subscriberAs(db, workspaceId, subscriber_id);
    if (person === undefined) throw fieldError("subscriber_id", "is no subscriber of this workspace");
    return withMergeData(person, data, true);
  }
  const maySee = missingPermissions(caller.permissions, [READ_PEOPLE]).length === 0;
  const first =
    maySee && audience !== null && !sample
      ? await firstOfAudience(db, workspaceId, audience, now)
      : undefined;
  if (first !== undefined) return withMergeData(first, data, true);
  return withMergeData(await samplePerson(db, workspaceId, listId, now), data, false);
}

/**
 * The mail with what is read of its workspace.
 * @param options showsFiles: whether the content of files is read where the HTML shows them; only their size counts otherwise
 */
export async function prepareMail(
  { db, publicUrl, findIdentity, linkBase, bounceDomain, smsCountry }: MailComposing,
  { campaign, source, listId, files, addsFooter, data }: LoadedMail,
  {
    person,
    now,
    showsFiles,
  }: { readonly person: ChosenPerson; readonly now: Date; readonly showsFiles: boolean },
): Promise<MailToRender> {
  const { workspace_id: workspaceId } = campaign;
  const showsImages = showsFiles && files.length > 0 && /cid:/i.test(campaign.html_content ?? "");
  const [identity, base, options, contents] = await Promise.all([
    findIdentity(workspaceId, domainOf(campaign.from_email)),
    linkBase(workspaceId, campaign.url_domain_id),
    contentOptions(db, workspaceId, campaign, { listId, timezone: campaign.timezone, addsFooter }),
    showsImages ? findAttachments(db, workspaceId, campaign.id) : [],
  ]);
  return {
    campaign,
    source,
    options: { ...options, fields: new Set([...options.fields, ...Object.keys(data)]) },
    person,
    files: files.map((file, at) => ({ ...file, content: contents[at]?.content ?? "" })),
    now,
    publicUrl: publicUrl(),
    linkBase: base,
    bounceDomain,
    smsCountry,
    signingKey: identity.signingKey,
    returnPathHost: identity.returnPathHost,
  };
}
