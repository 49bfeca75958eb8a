/**
 * The elements of MJML 5 that have a component (https://documentation.mjml.io/). They are written down here, because the
 * library that lists them loads its compiler, which belongs in a thread of its own.
 */

/** Elements whose content MJML reads. */
const withElements = [
  "mj-accordion",
  "mj-accordion-element",
  "mj-attributes",
  "mj-body",
  "mj-carousel",
  "mj-column",
  "mj-divider",
  "mj-font",
  "mj-group",
  "mj-head",
  "mj-hero",
  "mj-html-attributes",
  "mj-image",
  "mj-navbar",
  "mj-section",
  "mj-social",
  "mj-spacer",
  "mj-wrapper",
] as const;

/** Elements with HTML or plain text as their content, which MJML does not read. */
export const elementsWithHtml: ReadonlySet<string> = new Set([
  "mj-accordion-text",
  "mj-accordion-title",
  "mj-breakpoint",
  "mj-button",
  "mj-carousel-image",
  "mj-navbar-link",
  "mj-preview",
  "mj-raw",
  "mj-social-element",
  "mj-style",
  "mj-table",
  "mj-text",
  "mj-title",
]);

export const mjmlElements: ReadonlySet<string> = new Set([...withElements, ...elementsWithHtml]);
