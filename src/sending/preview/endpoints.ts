/** POST /render: a mail as it would be sent to one person, and the address of a page that shows it. */
import type { FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { domainOf } from "#mail/address.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { missingPermissions, requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { fieldNames, optionsOf } from "#sending/content/compile-for-workspace.ts";
import {
  type ChosenPerson,
  firstOfAudience,
  samplePerson,
  subscriberAs,
} from "#sending/mail/choose-person.ts";
import { findAttachments } from "#sending/mail/presend-store.ts";
import { fieldError } from "#sending/mail-fields.ts";
import { type LoadedMail, loadMail } from "./load-mail.ts";
import { PREVIEW_MS, previewLink } from "./preview-page.ts";
import { createRenderer, type RenderAside } from "./render-in-thread.ts";
import { RenderedMail, RenderOrder } from "./rendered-mail.ts";
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
      description:
        "Renders with the code that sends, for a subscriber, the first person of the audience, or a sample person. The answer has the mail and the address of a page that shows it for five minutes. Nothing is sent or counted.",
      needs: need(campaigns, "read"),
      body: RenderOrder,
      answer: RenderedMail,
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
  caller: Caller,
  { subscriber_id, sample }: RenderOrder,
  { audience, listId }: LoadedMail,
  now: Date,
): Promise<ChosenPerson> {
  const { workspaceId } = caller;
  if (subscriber_id != null) {
    if (sample) throw fieldError("sample", "and subscriber_id exclude each other: give one");
    requirePermissions(caller, [READ_PEOPLE]);
    const person = await subscriberAs(db, workspaceId, subscriber_id);
    if (person === undefined) throw fieldError("subscriber_id", "is no subscriber of this workspace");
    return person;
  }
  const maySee = missingPermissions(caller.permissions, [READ_PEOPLE]).length === 0;
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
