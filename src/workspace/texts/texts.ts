/** The texts of one language as a workspace words them, with values in place of their placeholders. */
import { type Html, html } from "#platform/http/response/html-page.ts";
import { directionOf, type Language } from "#platform/languages/language.ts";
import { defaultTexts } from "./default-texts.ts";
import type { Placeholder, TextKey } from "./text-catalogue.ts";

export type ReplacedTexts = Readonly<Partial<Record<TextKey, string>>>;

type Values = Readonly<Partial<Record<Placeholder, string>>>;

/** Scripts that are written from right to left. */
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

export class Texts {
  readonly language: Language;
  readonly #replaced: ReplacedTexts;

  /** @param replaced wordings of the workspace for this language */
  constructor(language: Language, replaced: ReplacedTexts = {}) {
    this.language = language;
    this.#replaced = replaced;
  }

  /** Plain text: of a title, a mail's subject or a text mail. */
  say(key: TextKey, values: Values = {}): string {
    return (
      this.#parts(key, values)
        // Mail programs would take the isolating characters for a part of the link.
        .map((part) =>
          typeof part === "string" ? part : part.name === "link" ? part.value : this.isolated(part.value),
        )
        .join("")
    );
  }

  /** Markup: each value is isolated, so that its direction does not reorder the sentence around it. */
  html(key: TextKey, values: Values = {}): Html {
    return html`${this.#parts(key, values).map((part) => {
      if (typeof part === "string") return html`${part}`;
      const value = html`<bdi>${part.value}</bdi>`;
      return part.name === "list" ? html`<strong>${value}</strong>` : value;
    })}`;
  }

  /**
   * Text of the workspace as part of plain text: with FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE around it (UAX #9)
   * where the directions may differ.
   */
  isolated(value: string): string {
    const isMixed = directionOf(this.language) === "rtl" || rightToLeft.test(value);
    return isMixed ? `\u2068${value}\u2069` : value;
  }

  #parts(key: TextKey, values: Values): (string | { readonly name: string; readonly value: string })[] {
    const wording = this.#replaced[key] ?? defaultTexts[this.language][key];
    return wording.split(/\{(\w+)\}/).map((part, at) => {
      if (at % 2 === 0) return part;
      return { name: part, value: values[part as Placeholder] ?? "" };
    });
  }
}
