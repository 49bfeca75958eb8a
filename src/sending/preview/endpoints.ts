/** POST /render: a mail as it would be sent to one person, and the address of a page that shows it. */
import type { Clock } from "#platform/clock.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import type { ChosenPerson } from "#sending/mail/choose-person.ts";
import type { ContentDeps } from "#sending/templates/take-content.ts";
import { type LoadedMail, loadMail } from "./load-mail.ts";
import { choosePerson, type MailComposing, prepareMail } from "./prepare-mail.ts";
import { PREVIEW_MS, previewLink } from "./preview-page.ts";
import { createRenderer, type RenderAside } from "./render-in-thread.ts";
import { BODY_LIMIT_OF_MAIL, RenderedMail, RenderOrder } from "./rendered-mail.ts";
import { insertPreview } from "./store.ts";

export interface PreviewDeps extends MailComposing, Pick<ContentDeps, "compiler"> {
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
      mayTakeLong: "working aside",
      summary: "Render a mail as it would be sent to one person, without sending it",
      description:
        "Renders with the code that sends, for a subscriber, the first person of the audience, or a sample person: a campaign, a step of an autoresponder, a template, or content that is not stored. A template is shown as it is, with its test data and without an added unsubscribe link. The answer has the mail and the address of a page that shows it for five minutes. Of an SMS campaign it has the text, the number and how many SMS it takes. Nothing is sent or counted.",
      needs: need(campaigns, "read"),
      isEveryday: true,
      unaudited: "only reads",
      body: RenderOrder,
      answer: RenderedMail,
      message: "Mail rendered",
      bodyLimit: BODY_LIMIT_OF_MAIL,
      errors: ["BAD_REQUEST"],
      async handle({ caller, body }) {
        const mail = await loadMail(deps, caller, body);
        const now = clock.now();
        const person = await choosePerson(db, caller, body, mail, now);
        const rendered = await renderAs(deps, render, mail, person, now);
        const expires = new Date(now.getTime() + PREVIEW_MS);
        const id = await insertPreview(db, caller.workspaceId, rendered.pages, expires);
        const url = previewLink(caller.workspaceId, id, publicUrl(), keys.signing);
        const { subject, previewText, html, text, headers, derived, sms, warnings, sizeBytes, htmlBytes } =
          rendered;
        const { subscriberId: subscriber_id, email, first_name, last_name } = person;
        return {
          subject,
          preview_text: previewText,
          from: { email: mail.campaign.from_email, name: mail.campaign.from_name },
          html,
          text,
          headers: [...headers],
          size: sizeBytes,
          html_size: htmlBytes,
          derived,
          person: { subscriber_id, email, first_name, last_name },
          sms,
          warnings: [...warnings],
          preview: { url, dark_url: `${url}?theme=dark`, expires_at: expires },
        };
      },
    }),
  ];
}

/** @throws ApiError VALIDATION_ERROR that names every fault of the content */
async function renderAs(
  deps: PreviewDeps,
  render: RenderAside,
  mail: LoadedMail,
  person: ChosenPerson,
  now: Date,
) {
  const answer = await render(
    mail.campaign.workspace_id,
    await prepareMail(deps, mail, { person, now, showsFiles: true }),
  );
  if (answer.ok) return answer;
  const [first, ...rest] = answer.faults;
  throw invalid(first ?? { field: "html_content", message: "html_content cannot be rendered" }, ...rest);
}
