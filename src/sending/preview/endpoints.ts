/** POST /render: a mail as it would be sent to one person, and the address of a page that shows it. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { missingPermissions, requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import {
  type ChosenPerson,
  firstOfAudience,
  samplePerson,
  subscriberAs,
} from "#sending/mail/choose-person.ts";
import { fieldError } from "#sending/mail-fields.ts";
import { type LoadedMail, loadMail } from "./load-mail.ts";
import { PREVIEW_MS, previewLink } from "./preview-page.ts";
import { createRenderer, type RenderDeps, renderAs } from "./render-in-thread.ts";
import { RenderedMail, RenderOrder } from "./rendered-mail.ts";
import { insertPreview } from "./store.ts";

/** HTML and text of two million characters each. */
const BODY_LIMIT = 30 * 1024 * 1024;
/** Subscribers are personal data, which a key for campaigns alone does not see. */
const READ_PEOPLE = "subscribers:read";

export interface PreviewDeps extends RenderDeps {
  readonly clock: Clock;
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
