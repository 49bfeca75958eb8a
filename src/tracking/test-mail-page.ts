/** The pages behind the links of a test mail. They change nothing. */
import type { FastifyReply } from "fastify";
import { html, sendPage } from "#platform/http/response/html-page.ts";

export function sendTestUnsubscribe(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    200,
    "Unsubscribe link of a test mail",
    html`<p>This is the link of a test mail: no one has been unsubscribed. In the campaign each recipient gets a personal link, to a page with an unsubscribe button.</p>
<p class="soft">You can close this page.</p>`,
  );
}

export function sendTestView(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    200,
    "Web view of a test mail",
    html`<p>This is the link of a test mail. In the campaign each recipient gets a personal link, which shows the mail as they received it.</p>
<p class="soft">You can close this page.</p>`,
  );
}
