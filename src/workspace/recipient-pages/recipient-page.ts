/** A page for a recipient: in their language, in the words of the workspace, with its brand. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Queryable } from "#platform/database/pool.ts";
import { readPageRefusal, waitSeconds } from "#platform/http/response/error-page.ts";
import { cardLayout, type Html, html, sendPage } from "#platform/http/response/html-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DEFAULT_LANGUAGE, type Language, preferredLanguage } from "#platform/languages/language.ts";
import { waitText } from "#platform/languages/relative-time.ts";
import { type BrandSettings, noBrand } from "#workspace/brand/brand.ts";
import { textOn } from "#workspace/brand/contrast.ts";
import { pageColors } from "#workspace/brand/page-colors.ts";
import { findBrand } from "#workspace/brand/store.ts";
import { listReplacedTexts } from "#workspace/texts/store.ts";
import type { TextKey } from "#workspace/texts/text-catalogue.ts";
import { Texts } from "#workspace/texts/texts.ts";

const css = `
form { margin: 0 }
label, fieldset { display: block; margin: 0 0 1rem }
fieldset { padding: 0; border: 0 }
legend { padding: 0 }
input, select, textarea { display: block; width: 100%; margin-top: .25rem; padding: .7rem .9rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--ground); color: var(--ink); font: inherit }
::placeholder { color: var(--soft); opacity: 1 }
label.box { display: flex; gap: .65rem; align-items: baseline; margin-bottom: .5rem }
fieldset, .box:not(fieldset .box) { margin-bottom: 1rem }
label.box input { flex: none; width: auto; margin: 0; accent-color: var(--accent) }
.help { display: block; margin-bottom: .25rem; color: var(--soft); font-size: .9375rem }
.fault { padding: .7rem .9rem; border-inline-start: 4px solid #c62828; background: var(--ground) }
.logo { display: block; order: -1; max-width: 100%; max-height: 4rem; margin-bottom: 1.5rem }
main:has(.logo) { display: flex; flex-direction: column }
.lines { white-space: pre-line }
footer { width: 100%; max-width: 30rem; margin-top: 1.5rem; color: var(--soft); font-size: .875rem; text-align: center }
footer p { margin: 0 0 .5rem }
footer a { color: inherit }
body { align-content: center }
h1:lang(ja) { word-break: auto-phrase }
`;

interface PageOptions {
  /** As in html-page.ts. */
  readonly formTarget?: string | undefined;
}

export class RecipientPage {
  readonly texts: Texts;
  readonly #brand: BrandSettings;

  constructor(texts: Texts, brand: BrandSettings = noBrand) {
    this.texts = texts;
    this.#brand = brand;
  }

  /** The colours of buttons in mail; null without a brand. */
  get buttonColors(): { readonly background: string; readonly text: string } | null {
    const { accent_color: background } = this.#brand;
    return background === null ? null : { background, text: textOn(background) };
  }

  send(
    reply: FastifyReply,
    status: number,
    title: string,
    body: Html,
    { formTarget }: PageOptions = {},
  ): FastifyReply {
    const { language } = this.texts;
    const sources = this.#brand.logo_path === null ? [] : ["img-src 'self'"];
    const options = { language, sources, ...(formTarget !== undefined && { formTarget }) };
    const layout = cardLayout(css + pageColors(this.#brand), brandFooter(this.#brand), options);
    return sendPage(reply, status, title, html`${brandLogo(this.#brand)}${body}`, layout);
  }

  /** A page with 429 that says when to try again. @param seconds until the limit ends */
  sendBusy(reply: FastifyReply, title: TextKey, seconds: number): FastifyReply {
    const wait = waitSeconds(seconds);
    reply.header("Retry-After", String(wait));
    const time = waitText(wait, this.texts.language);
    // The time is a part of the sentence in its language, so it is not isolated.
    const body = html`<p>${this.texts.say("try_again_later", { time })}</p>`;
    return this.send(reply, 429, this.texts.say(title), body);
  }
}

/** The pictures of a workspace are served on every host. */
function brandLogo({ logo_path, display_name }: BrandSettings): Html {
  if (logo_path === null) return html``;
  return html`<img class="logo" src="${logo_path}" alt="${display_name ?? ""}">\n`;
}

function brandFooter({ display_name, website, footer_text, postal_address }: BrandSettings): Html {
  const name = display_name ?? (website === null ? null : new URL(website).host);
  const lines = [
    ...(name === null ? [] : [nameLine(name, website)]),
    ...[footer_text, postal_address].flatMap((text) =>
      text === null ? [] : [html`<p class="lines" dir="auto">${text}</p>\n`],
    ),
  ];
  return lines.length === 0 ? html`` : html`\n<footer>${lines}</footer>`;
}

function nameLine(name: string, website: string | null): Html {
  const shown = html`<bdi>${name}</bdi>`;
  return website === null
    ? html`<p>${shown}</p>\n`
    : html`<p><a href="${website}" rel="noopener noreferrer">${shown}</a></p>\n`;
}

/** The page of a workspace in this language. */
export async function loadRecipientPage(
  db: Queryable,
  workspaceId: WorkspaceId,
  language: Language,
): Promise<RecipientPage> {
  const [brand, replaced] = await Promise.all([
    findBrand(db, workspaceId),
    listReplacedTexts(db, workspaceId, language),
  ]);
  const wordings = Object.fromEntries(replaced.map(({ key, text }) => [key, text]));
  return new RecipientPage(new Texts(language, wordings), brand);
}

/** A page whose reader is not known: in the language that the browser asks for. */
export function unknownReaderPage({ headers }: FastifyRequest): RecipientPage {
  return new RecipientPage(new Texts(browserLanguage(headers) ?? DEFAULT_LANGUAGE));
}

/** The language that the browser asks for; undefined if we have none of its languages. */
export function browserLanguage(headers: FastifyRequest["headers"]): Language | undefined {
  return preferredLanguage(headers["accept-language"]);
}

/** The error handler of a scope of pages for recipients. */
export function sendRecipientErrorPage(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = readPageRefusal(thrown, reply);
  const page = unknownReaderPage(request);
  if (refusal.kind === "busy") return page.sendBusy(reply, "too_many_requests_title", refusal.seconds);
  const { texts } = page;
  return page.send(reply, 413, texts.say("too_large_title"), html`<p>${texts.say("too_large")}</p>`);
}
