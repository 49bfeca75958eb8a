import type { FastifyInstance, FastifyReply } from "fastify";
import { htmlFromText } from "#mail/html/body-conversion.ts";
import { html, ready } from "#platform/http/response/html-page.ts";
import { paths, readView, TEST_TOKEN } from "./link-tokens.ts";
import { sendTestView } from "./test-mail-page.ts";
import { findRecipient } from "./tracked-mail-store.ts";
import {
  type MailImage,
  pageFor,
  type TokenPath,
  type TrackingDeps,
  uncached,
  untrackedLinks,
} from "./tracking-deps.ts";
import { sendInvalidLink } from "./unsubscribe-page.ts";

/** An image opened on its own is a document too, and an SVG can contain scripts. */
const imageHeaders = {
  ...uncached,
  "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
  "X-Content-Type-Options": "nosniff",
};

/** For HTML written by customers: no script, no form, no frame; links may open tabs outside of the sandbox. */
const foreignHeaders = {
  ...uncached,
  "Content-Security-Policy": [
    "sandbox allow-popups allow-popups-to-escape-sandbox",
    "default-src 'none'",
    "img-src https: http: data:",
    "style-src 'unsafe-inline' https:",
    "font-src https: data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** The web view: the mail in the browser, and the images attached to it. */
export function registerViewRoute(pages: FastifyInstance, deps: TrackingDeps): void {
  pages.get<TokenPath>(`${paths.view}*`, async ({ params }, reply) => {
    if (params["*"] === TEST_TOKEN) return sendTestView(reply);
    const [address = "", ...contentId] = params["*"].split("/");
    const view = deps.keys.read((key) => readView(address, key));
    if (view === null) return sendInvalidLink(reply);
    const { mail, values } = view;
    if (contentId.length > 0) return sendImage(reply, await deps.findImage(mail, contentId.join("/")));
    const content = await deps.renderMail(mail, values, (base) => ({
      ...untrackedLinks(deps, mail, base),
      view: base + paths.view + address,
    }));
    if (!content) return sendInvalidLink(reply);
    if (content.html === null) {
      const recipient = await findRecipient(deps.db, mail);
      if (!recipient) return sendInvalidLink(reply);
      const page = await pageFor(deps.db, mail.workspaceId, recipient);
      const text = ready(htmlFromText(content.text ?? ""));
      return page.send(reply, 200, page.texts.say("web_view_title"), html`<div dir="auto">${text}</div>`);
    }
    return reply.headers(foreignHeaders).type("text/html; charset=utf-8").send(content.html);
  });
}

function sendImage(reply: FastifyReply, image: MailImage | null): FastifyReply {
  if (image === null) return sendInvalidLink(reply);
  return reply.headers(imageHeaders).type(image.type).send(image.content);
}
