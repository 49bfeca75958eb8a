/** What the addresses in a test mail lead to: whoever proofreads it clicks there first. Nothing changes by them. */
import type { FastifyReply } from "fastify";
import { html, sendPage } from "#platform/http/response/page.ts";

export function sendTestUnsubscribe(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    200,
    "The link to unsubscribe",
    html`<p>This is the link of a test mail: nobody has been unsubscribed. In the campaign every recipient has a link of their own, to a page whose button ends the subscription.</p>
<p class="soft">You can close this page.</p>`,
  );
}

export function sendTestView(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    200,
    "The mail in the browser",
    html`<p>This is the link of a test mail. In the campaign every recipient has a link of their own, which shows the mail as they got it.</p>
<p class="soft">You can close this page.</p>`,
  );
}
