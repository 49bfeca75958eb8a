/**
 * Renders templates for mails whose values the sender gives. Compiled templates are kept: a web shop sends the same one again
 * and again. It runs in a thread (render-thread.ts), because the first mail of a large template takes a second.
 */
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import type { FieldFault } from "#platform/errors.ts";
import { type CompiledContent, compileContent, compileSubject } from "#sending/content/compile.ts";
import { fieldFault } from "#sending/content/parse-content.ts";
import { renderContent } from "#sending/content/render.ts";
import { linkOf, mergeValuesOf } from "#sending/templates/merge-data.ts";
import type { SendableVersion } from "#sending/templates/versions-store.ts";

export interface MailsToRender {
  readonly versions: readonly SendableVersion[];
  readonly mails: readonly {
    /** The place of its version. */
    readonly version: number;
    readonly variables: Readonly<Record<string, unknown>>;
    /** The value of `email`, unless the variables have one. */
    readonly email: string;
    /** A subject with merge tags in place of that of the template; null for none. */
    readonly subject: string | null;
  }[];
  /** IANA name. */
  readonly timezone: string;
  /** Characters that the mails may have together. */
  readonly mostCharacters: number;
}

/** The texts of a mail. */
export interface MailTexts {
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
}

/** The fault names the template's field, or the name that has no value. */
export type RenderedTemplate =
  | ({ readonly ok: true } & MailTexts)
  | { readonly ok: false; readonly fault: FieldFault };

/** Characters of templates that are kept compiled, which take several times as much memory. */
const MOST_KEPT = 10_000_000;

export class TemplateRenderings {
  /** The last used are the last. */
  readonly #kept = new Map<string, { readonly content: CompiledContent; readonly characters: number }>();
  #characters = 0;

  render({ versions, mails, timezone, mostCharacters }: MailsToRender): RenderedTemplate[] {
    const contents = versions.map((version) => this.#contentOf(version, timezone));
    let left = mostCharacters;
    return mails.map(({ version, variables, email, subject }) => {
      const content = contents[version];
      if (content === undefined) throw new Error("a mail without its template");
      if ("message" in content) return { ok: false, fault: content };
      if (left < 0) return { ok: false, fault: tooMuch };
      const own = subject === null ? null : compileSubject(subject, timezone);
      if (own?.ok === false) return { ok: false, fault: own.fault };
      const rendered = renderedMail(own === null ? content : { ...content, ...own }, variables, email);
      if (rendered.ok) left -= charactersOf(rendered);
      return left >= 0 ? rendered : { ok: false, fault: tooMuch };
    });
  }

  #contentOf(version: SendableVersion, timezone: string): CompiledContent | FieldFault {
    const { template_id, subject, compiled_html: html_content, text_content } = version;
    const key = `${template_id} ${version.version} ${timezone}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.content;
    }
    const compiled = compileContent(
      { subject, html_content, text_content },
      { tracksOpens: false, tracksClicks: false, footer: null, fields: new Set(), timezone },
    );
    if (!compiled.ok) {
      return fieldFault("template.id", `the template cannot be rendered: ${compiled.faults[0]?.message}`);
    }
    const characters = html_content.length + (text_content?.length ?? 0);
    this.#kept.set(key, { content: compiled.content, characters });
    this.#characters += characters;
    for (const [oldest, one] of this.#kept) {
      if (this.#characters <= MOST_KEPT || oldest === key) break;
      this.#kept.delete(oldest);
      this.#characters -= one.characters;
    }
    return compiled.content;
  }
}

/** Characters of a mail that count. */
export function charactersOf({ html, text }: MailTexts): number {
  return html.length + (text?.length ?? 0);
}

const tooMuch = fieldFault(
  "template",
  "the emails of one request must have at most 30,000,000 characters together",
);

function renderedMail(
  content: CompiledContent,
  variables: Readonly<Record<string, unknown>>,
  email: string,
): RenderedTemplate {
  const links = {
    unsubscribe_url: linkOf(variables, "unsubscribe_url"),
    view_in_browser_url: linkOf(variables, "view_in_browser_url"),
  };
  for (const [name, link] of Object.entries(links)) {
    if (link === null && content.facts.variables.some((used) => used === name)) {
      const message = `is required: the template shows it, and only campaigns and autoresponders have one of their own`;
      const field = `template.variables.${name}`;
      return { ok: false, fault: { field, message: `${field} ${message}` } };
    }
  }
  const values = {
    email,
    first_name: null,
    last_name: null,
    list_name: null,
    campaign_name: "",
    ...mergeValuesOf(variables),
  };
  const rendered = renderContent(content, values, {
    unsubscribe: links.unsubscribe_url ?? "",
    view: links.view_in_browser_url ?? "",
    pixel: null,
    tracked: (_index, target) => target,
  });
  if (!rendered.ok) {
    const { field, message } = rendered.fault;
    return { ok: false, fault: fieldFault("template.variables", `${field}, with these values: ${message}`) };
  }
  const { subject, html, text } = rendered;
  if (html === null) throw new Error("a template without HTML");
  const longest = Math.max(html.length, text?.length ?? 0);
  if (longest <= LONGEST_BODY) return { ok: true, subject, html, text };
  return {
    ok: false,
    fault: fieldFault("template.variables", `the mail must have at most ${LONGEST_BODY} characters`),
  };
}
