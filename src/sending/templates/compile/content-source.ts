/** What the author of a mail writes: HTML, MJML or a design, and what is put into it or around it. */

export const contentFormats = ["html", "mjml", "design"] as const;
export type ContentFormat = (typeof contentFormats)[number];

/** Characters of MJML: some ten times the longest newsletters, and what compiles in a second or two. */
export const LONGEST_MJML = 500_000;

/** The body in the form in which its author wrote it. */
export type WrittenBody =
  | { readonly format: "html"; readonly html: string }
  | { readonly format: "mjml"; readonly mjml: string }
  | { readonly format: "design"; readonly design: Readonly<Record<string, unknown>> };

export interface ContentSource {
  readonly body: WrittenBody;
  /** The text that lists of mail show beside the subject; null for none, or that of the design. */
  readonly preheader: string | null;
  /** The layout around it, which has compiled; null for none. */
  readonly layout: WrittenBody | null;
  /** Whether it is a layout itself, with one place for the content of others. */
  readonly isLayout: boolean;
}

/** The fields in which requests have a body, and in which answers show it. */
export const bodyFields = { html: "html_content", mjml: "mjml", design: "design" } as const;
