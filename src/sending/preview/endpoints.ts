/** POST /render: a mail as it would be sent to one person, and the address of a page that shows it. */
import { type Static, Type } from "typebox";
import type { FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { domainOf } from "#mail/address.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { Id, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { ContentWarning, campaigns } from "#sending/campaigns/campaign.ts";
import { fieldNames, optionsOf } from "#sending/content/compile-for-workspace.ts";
import { findAttachments } from "#sending/mail/presend-store.ts";
import { fieldError, mailFields } from "#sending/mail-fields.ts";
import { type ChosenPerson, firstOfAudience, samplePerson, subscriberAs } from "./choose-person.ts";
import { type LoadedMail, loadMail } from "./load-mail.ts";
import { PREVIEW_MS, previewLink } from "./preview-page.ts";
import { createRenderer, type RenderAside } from "./render-in-thread.ts";
import { insertPreview } from "./store.ts";

/** HTML and text of two million characters each. */
const BODY_LIMIT = 30 * 1024 * 1024;
/** Subscribers are personal data, which a key for campaigns alone does not see. */
const READ_PEOPLE = "subscribers:read";

export interface PreviewDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
  readonly findIdentity: FindIdentity;
  /** The base URL of links in mail. */
  readonly linkBase: (workspaceId: WorkspaceId, urlDomainId: string | null) => Promise<string>;
  /** Null when the service receives no mail. */
  readonly bounceDomain: string | null;
  readonly keys: PurposeKeys;
}

const uuid = (description: string) => omittable(Type.Unsafe<string>({ ...Id, description }));

export const RenderOrder = Type.Object(
  {
    campaign_id: uuid("Render this campaign, in any status."),
    autoresponder_id: uuid("Render a step of this autoresponder."),
    step_id: uuid("The step of the autoresponder; omitted: its first."),
    subject: Type.Optional(
      Type.String({ maxLength: LONGEST_SUBJECT, description: "In place of the stored subject." }),
    ),
    html_content: mailFields.html_content,
    text_content: mailFields.text_content,
    from_email: omittable(
      Type.String({ description: "In place of the stored sender. It need not be verified yet." }),
    ),
    from_name: mailFields.from_name,
    reply_to: mailFields.reply_to,
    enable_open_tracking: mailFields.enable_open_tracking,
    enable_click_tracking: mailFields.enable_click_tracking,
    custom_headers: omittable(Type.String({ description: "Lines `Name: value`; null for none." })),
    mailing_list_id: uuid("The list whose name, sender, custom fields and members are used."),
    subscriber_id: uuid(
      "Render as this subscriber. Omitted: as the first person of the audience if the key has `subscribers:read`, otherwise as a made-up person.",
    ),
    sample: omittable(
      Type.Boolean({
        description: "True: render as a made-up person who has a value in every custom field.",
      }),
    ),
  },
  { $id: "RenderOrder" },
);
export type RenderOrder = Static<typeof RenderOrder>;

const Rendered = Type.Object(
  {
    subject: Type.String({ description: "The subject with the person's values." }),
    from: Type.Object(
      { email: Type.String(), name: nullable(Type.String()) },
      { description: "The sender, with the name of the list where the mail has none." },
    ),
    html: Type.String({
      description: "The HTML part with the person's values. Links have their own targets, not tracked ones.",
    }),
    text: Type.String({ description: "The text part with the person's values." }),
    headers: Type.Array(
      Type.Object({
        name: Type.String(),
        value: Type.String({ description: "As in the mail: in encoded words, unfolded." }),
      }),
      { description: "The header fields in their order, without DKIM-Signature." },
    ),
    size: Type.Integer({
      description: "Bytes of the whole mail as sent, with tracked links, attachments and signature.",
    }),
    html_size: Type.Integer({
      description: "Bytes of the HTML part with tracked links. Gmail shows about the first 102,400.",
    }),
    derived: Type.Object(
      {
        html: Type.Boolean({ description: "The HTML part was made from the text." }),
        text: Type.Boolean({ description: "The text part was made from the HTML." }),
        unsubscribe_footer: Type.Boolean({
          description: "A footer with the unsubscribe link was added to a part that had none.",
        }),
      },
      { description: "What the author did not write." },
    ),
    person: Type.Object(
      {
        subscriber_id: nullable(Type.Unsafe<string>({ ...Id, description: "Null for the made-up person." })),
        email: Type.String(),
        first_name: nullable(Type.String()),
        last_name: nullable(Type.String()),
      },
      { description: "As whom the mail was rendered." },
    ),
    warnings: Type.Array(ContentWarning, { description: "Merge tags that show nothing." }),
    preview: Type.Object(
      {
        url: Type.String({ description: "A page with the mail, which needs no key and runs no script." }),
        dark_url: Type.String({
          description:
            "The mail in a dark theme: with its own rules for dark themes, or recoloured as a whole if it has none.",
        }),
        expires_at: Timestamp,
      },
      { description: "Addresses that work for five minutes." },
    ),
  },
  { $id: "RenderedMail" },
);

export function previewEndpoints(deps: PreviewDeps): Endpoint[] {
  const { db, clock, publicUrl, keys } = deps;
  const render = createRenderer();
  return [
    endpoint({
      id: "renderContent",
      method: "POST",
      path: "/render",
      mayTakeLong: "asking others",
      summary: "Render a mail as it would be sent to one person, without sending it",
      needs: need(campaigns, "read"),
      body: RenderOrder,
      answer: Rendered,
      message: "Mail rendered",
      bodyLimit: BODY_LIMIT,
      errors: ["BAD_REQUEST"],
      async handle({ caller, body }) {
        const mail = await loadMail(db, caller, body);
        const now = clock.now();
        const person = await choosePerson(db, caller, body, mail, now);
        const rendered = await renderAs(deps, render, mail, person, now);
        const expires = new Date(now.getTime() + PREVIEW_MS);
        const id = await insertPreview(db, caller.workspaceId, rendered.pages, expires);
        const url = previewLink(caller.workspaceId, id, publicUrl(), keys.signing);
        const { subject, html, text, headers, derived, warnings, sizeBytes, htmlBytes } = rendered;
        const { subscriberId: subscriber_id, email, first_name, last_name } = person;
        return {
          subject,
          from: { email: mail.campaign.from_email, name: mail.campaign.from_name },
          html,
          text,
          headers: [...headers],
          size: sizeBytes,
          html_size: htmlBytes,
          derived,
          person: { subscriber_id, email, first_name, last_name },
          warnings: [...warnings],
          preview: { url, dark_url: `${url}?theme=dark`, expires_at: expires },
        };
      },
    }),
  ];
}

/** @throws ApiError VALIDATION_ERROR for an unknown subscriber, INSUFFICIENT_SCOPE */
async function choosePerson(
  db: Database,
  { workspaceId, permissions }: Caller,
  { subscriber_id, sample }: RenderOrder,
  { audience, listId }: LoadedMail,
  now: Date,
): Promise<ChosenPerson> {
  if (subscriber_id != null) {
    if (sample) throw fieldError("sample", "and subscriber_id exclude each other: give one");
    requirePermissions({ permissions }, [READ_PEOPLE]);
    const person = await subscriberAs(db, workspaceId, subscriber_id);
    if (person === undefined) throw fieldError("subscriber_id", "is no subscriber of this workspace");
    return person;
  }
  const maySee = hasPermissions(permissions, [READ_PEOPLE]);
  const first =
    maySee && audience !== null && !sample
      ? await firstOfAudience(db, workspaceId, audience, now)
      : undefined;
  return first ?? samplePerson(db, workspaceId, listId, now);
}

/** @throws ApiError VALIDATION_ERROR that names every fault of the content */
async function renderAs(
  { db, publicUrl, findIdentity, linkBase, bounceDomain }: PreviewDeps,
  render: RenderAside,
  { campaign, source, listId, files }: LoadedMail,
  person: ChosenPerson,
  now: Date,
) {
  const { workspace_id: workspaceId } = campaign;
  const showsImages = files.length > 0 && /cid:/i.test(campaign.html_content ?? "");
  const [identity, base, fields, contents] = await Promise.all([
    findIdentity(workspaceId, domainOf(campaign.from_email)),
    linkBase(workspaceId, campaign.url_domain_id),
    fieldNames(db, workspaceId, listId),
    showsImages ? findAttachments(db, workspaceId, campaign.id) : [],
  ]);
  const answer = await render(workspaceId, {
    campaign,
    source,
    options: optionsOf(campaign, fields, campaign.timezone),
    person,
    files: files.map((file, at) => ({ ...file, content: contents[at]?.content ?? "" })),
    now,
    publicUrl: publicUrl(),
    linkBase: base,
    bounceDomain,
    signingKey: identity.signingKey,
    returnPathHost: identity.returnPathHost,
  });
  if (answer.ok) return answer;
  const [first, ...rest] = answer.faults;
  throw invalid(first ?? { field: "html_content", message: "html_content cannot be rendered" }, ...rest);
}
