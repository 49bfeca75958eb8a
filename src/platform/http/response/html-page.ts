/**
 * HTML pages outside /api/v1, without scripts, cookies and external resources. Text gets into the markup through the `html`
 * tag, which escapes it, or through `ready`, whose caller has escaped it.
 */
import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { DEFAULT_LANGUAGE, directionOf, htmlTagOf, type Language } from "#platform/languages/language.ts";

/** Escaped markup. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type { Html };

/** Values of a template: text is escaped, markup and lists of markup are not. */
type HtmlValue = string | number | Html | readonly Html[];

/** A template whose values are escaped for element content and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(markupOf)));
}

/** Marks a string as markup; its text must be escaped already. */
export function ready(markup: string): Html {
  return new Html(markup);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function markupOf(value: HtmlValue): string {
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const commonCss = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #fff; --ground: #f3f4f6; --accent: #0b5cad; --on-accent: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a3abb5; --paper: #1d2126; --ground: #121518; --accent: #7cb8f5; --on-accent: #0c1a28 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance }
p { margin: 0 0 1rem }
p:last-child { margin: 0 }
.soft { color: var(--soft); font-size: .9375rem }
:focus-visible { outline: 3px solid var(--focus, var(--accent)); outline-offset: 3px }
`;

/** Style and headers of one kind of page. */
export interface PageLayout {
  readonly style: Html;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of `<body>` for a title and a body. */
  readonly arrange: (title: string, body: Html) => Html;
  readonly language: Language;
}

interface PageOptions {
  /** Additional directives of Content-Security-Policy. */
  readonly sources?: readonly string[];
  /** Where the answer to a form of the page may redirect besides the service: a source of form-action (CSP 3). */
  readonly formTarget?: string;
  readonly language?: Language;
}

/** @param css in addition to the styles of all pages */
export function pageLayout(
  css: string,
  arrange: PageLayout["arrange"],
  { sources = [], formTarget, language = DEFAULT_LANGUAGE }: PageOptions = {},
): PageLayout {
  const style = commonCss + css;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    ...sources,
    `form-action 'self'${formTarget === undefined ? "" : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    style: ready(style),
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "Cache-Control": "no-store",
      // Paths contain tokens, which must not be sent on as Referer.
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "X-Robots-Tag": "noindex",
    },
    arrange,
    language,
  };
}

/**
 * One card in the middle, with a text and at most one decision.
 * @param css in addition to that of the card
 * @param footer what follows the card
 */
export function cardLayout(css = "", footer: Html = html``, options: PageOptions = {}): PageLayout {
  return pageLayout(
    cardCss + css,
    (title, body) => html`<main>
<h1>${title}</h1>
${body}
</main>${footer}`,
    options,
  );
}

const cardCss = `
body { display: grid; place-items: center; padding: 1.5rem }
main { width: 100%; max-width: 30rem; padding: clamp(1.5rem, 6vw, 2.75rem); border-radius: .875rem; background: var(--paper); box-shadow: 0 1px 3px #0002, 0 12px 32px #0001 }
button { width: 100%; margin: .5rem 0 1.5rem; padding: .8rem 1.25rem; border: 1px solid var(--edge, transparent); border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer }
button:hover { text-decoration: underline }
`;
const card = cardLayout();

/** Sends a page with headers that forbid framing, caching and scripts. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  title: string,
  body: Html,
  layout: PageLayout = card,
): FastifyReply {
  const page = html`<!doctype html>
<html lang="${htmlTagOf(layout.language)}" dir="${directionOf(layout.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${layout.style}</style>
</head>
<body>
${layout.arrange(title, body)}
</body>
</html>
`;
  return reply.code(status).headers(layout.headers).send(page.toString());
}
