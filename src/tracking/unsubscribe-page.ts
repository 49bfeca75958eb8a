/** The pages of unsubscribing, and of what goes wrong. They never show a whole address: mails are forwarded, and links with them. */
import type { FastifyReply } from "fastify";
import { type Html, html, sendPage } from "#platform/http/response/page.ts";
import type { MailRecipient } from "./store.ts";

/** The first letter and the domain: enough for its owner. */
function masked(address: string): string {
  const at = address.lastIndexOf("@");
  const [first = ""] = address.slice(0, at);
  return `${first}…${address.slice(at)}`;
}

export function sendUnsubscribeQuestion(reply: FastifyReply, recipient: MailRecipient): FastifyReply {
  const { address, list_name: list } = recipient;
  const who = masked(address);
  const question =
    list === null
      ? html`Do you want ${who} to get no more of these emails? You leave all lists of the sender.`
      : html`Do you want ${who} to get no more emails from <strong>${list}</strong>?`;
  return sendPage(
    reply,
    200,
    "Unsubscribe?",
    html`<p>${question}</p>
<form method="post"><button>Unsubscribe</button></form>
<p class="soft">If you want to stay, close this page: nothing has changed.</p>`,
  );
}

/** What the button that takes it back posts. */
export const TAKE_BACK = "take_back=yes";
const undo = html`<form method="post"><input type="hidden" name="take_back" value="yes"><button>Undo</button></form>
`;

/** The same to everybody who is not subscribed, for whatever reason; only who has just left by this mail may take it back. */
export function sendUnsubscribed(
  reply: FastifyReply,
  recipient: MailRecipient,
  mayReturn: boolean,
): FastifyReply {
  return sendPage(
    reply,
    200,
    "You are unsubscribed",
    html`<p>${farewell(recipient)}</p>
${mayReturn ? undo : ""}<p class="soft">What is on its way already may still arrive. You can close this page.</p>`,
  );
}

export function sendReturned(reply: FastifyReply, { address }: MailRecipient): FastifyReply {
  return sendPage(
    reply,
    200,
    "You are subscribed",
    html`<p>${masked(address)} gets these emails again.</p>
<p class="soft">You can close this page.</p>`,
  );
}

function farewell({ address, mailing_list_id: listId, list_name: list }: MailRecipient): Html {
  const who = masked(address);
  if (list !== null) return html`${who} gets no more emails from <strong>${list}</strong>.`;
  if (listId !== null) return html`The list does not exist any more: it sends nothing to ${who}.`;
  return html`${who} gets no more of these emails: it has left all lists of the sender.`;
}

export function sendInvalidLink(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>It may have been cut off by the mail program, or the mail is so old that nothing is known of it any more.</p>
<p class="soft">Every mail has a link of its own: try the one in a newer mail.</p>`,
  );
}

export function sendTrouble(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply.header("Retry-After", "5"),
    503,
    "Please try again",
    html`<p>Something does not work on our side. Please open the link again in a minute.</p>`,
  );
}
