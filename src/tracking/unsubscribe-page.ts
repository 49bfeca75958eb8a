/** The unsubscribe pages and the error pages. Addresses are shown masked, because a forwarded mail contains the same links. */
import type { FastifyReply } from "fastify";
import { type Html, html, sendPage } from "#platform/http/response/html-page.ts";
import type { MailRecipient } from "./tracked-mail-store.ts";

/** Shows the first letter and the domain. */
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
      ? html`Unsubscribe ${who} from these emails? This covers all lists of the sender.`
      : html`Unsubscribe ${who} from <strong>${list}</strong>?`;
  return sendPage(
    reply,
    200,
    "Unsubscribe?",
    html`<p>${question}</p>
<form method="post"><button>Unsubscribe</button></form>
<p class="soft">To stay subscribed, close this page: nothing has changed.</p>`,
  );
}

/** The body that the Undo button posts. */
export const UNDO = "take_back=yes";
const undo = html`<form method="post"><input type="hidden" name="take_back" value="yes"><button>Undo</button></form>
`;

/**
 * The page for every recipient who is not subscribed, for whatever reason. It has the Undo button only if `mayUndo`.
 */
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
${mayReturn ? undo : ""}<p class="soft">Emails that were sent already may still arrive. You can close this page.</p>`,
  );
}

export function sendResubscribed(reply: FastifyReply, { address }: MailRecipient): FastifyReply {
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
  if (listId !== null) return html`This list no longer exists: it sends nothing to ${who}.`;
  return html`${who} gets no more of these emails: it is unsubscribed from all lists of the sender.`;
}

export function sendInvalidLink(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>The mail program may have cut it off, or the mail is too old.</p>
<p class="soft">Each mail has its own link: try the one in a newer mail.</p>`,
  );
}

export function sendTryAgain(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply.header("Retry-After", "5"),
    503,
    "Please try again",
    html`<p>There is a problem on our side. Please open the link again in a minute.</p>`,
  );
}
