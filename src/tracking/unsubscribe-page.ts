/**
 * The unsubscribe pages and the error pages, in the recipient's language. Addresses are shown masked, because a forwarded mail
 * contains the same links.
 */
import type { FastifyReply } from "fastify";
import { type Html, html } from "#platform/http/response/html-page.ts";
import { type RecipientPage, unknownReaderPage } from "#workspace/recipient-pages/recipient-page.ts";
import type { MailRecipient } from "./tracked-mail-store.ts";

/** Shows the first letter and the domain. */
function masked(address: string): string {
  const at = address.lastIndexOf("@");
  const [first = ""] = address.slice(0, at);
  return `${first}…${address.slice(at)}`;
}

export function sendUnsubscribeQuestion(
  reply: FastifyReply,
  page: RecipientPage,
  { address: full, list_name: list }: MailRecipient,
): FastifyReply {
  const { texts } = page;
  const address = masked(full);
  const question =
    list === null
      ? texts.html("unsubscribe_question_all", { address })
      : texts.html("unsubscribe_question", { address, list });
  return page.send(
    reply,
    200,
    texts.say("unsubscribe_title"),
    html`<p>${question}</p>
<form method="post"><button>${texts.say("unsubscribe_button")}</button></form>
<p class="soft">${texts.say("unsubscribe_stay")}</p>`,
  );
}

/** The body that the Undo button posts. */
export const UNDO = "take_back=yes";

/**
 * The page for every recipient who is not subscribed, for whatever reason. It has the Undo button only if `mayUndo`.
 */
export function sendUnsubscribed(
  reply: FastifyReply,
  page: RecipientPage,
  recipient: MailRecipient,
  mayReturn: boolean,
): FastifyReply {
  const { texts } = page;
  const undo = html`<form method="post"><input type="hidden" name="take_back" value="yes"><button>${texts.say("undo_button")}</button></form>
`;
  return page.send(
    reply,
    200,
    texts.say("unsubscribed_title"),
    html`<p>${farewell(page, recipient)}</p>
${mayReturn ? undo : ""}<p class="soft">${texts.say("unsubscribed_note")}</p>`,
  );
}

export function sendResubscribed(
  reply: FastifyReply,
  page: RecipientPage,
  { address }: MailRecipient,
): FastifyReply {
  const { texts } = page;
  return page.send(
    reply,
    200,
    texts.say("resubscribed_title"),
    html`<p>${texts.html("resubscribed", { address: masked(address) })}</p>
<p class="soft">${texts.say("close_page")}</p>`,
  );
}

function farewell(
  { texts }: RecipientPage,
  { address: full, mailing_list_id: listId, list_name: list }: MailRecipient,
): Html {
  const address = masked(full);
  if (list !== null) return texts.html("unsubscribed", { address, list });
  return texts.html(listId === null ? "unsubscribed_all" : "unsubscribed_list_gone", { address });
}

export function sendInvalidLink(reply: FastifyReply): FastifyReply {
  const page = unknownReaderPage(reply.request);
  const { texts } = page;
  return page.send(
    reply,
    404,
    texts.say("dead_link_title"),
    html`<p>${texts.say("dead_link")}</p>
<p class="soft">${texts.say("dead_link_advice")}</p>`,
  );
}

export function sendTryAgain(reply: FastifyReply): FastifyReply {
  const page = unknownReaderPage(reply.request);
  const { texts } = page;
  reply.header("Retry-After", "5");
  return page.send(reply, 503, texts.say("try_again_title"), html`<p>${texts.say("try_again")}</p>`);
}
