/** The layout of shared pages: a wide sheet of figures and tables that fits a phone, without scripts. */
import { type Html, html, pageLayout } from "#platform/http/response/html-page.ts";

/** What a share link shows. */
export interface SharedReport {
  readonly title: string;
  readonly body: Html;
}

export const reportLayout = pageLayout(
  `
body { padding: clamp(1rem, 4vw, 3rem) }
main { max-width: 60rem; margin: 0 auto; padding: clamp(1.25rem, 4vw, 2.75rem); border-radius: .875rem; background: var(--paper); box-shadow: 0 1px 3px #0002, 0 12px 32px #0001 }
h2 { margin: 2rem 0 .75rem; font-size: 1.125rem }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1.25rem 1rem; margin: 1.5rem 0 }
.figures div { display: flex; flex-direction: column-reverse }
.figures dt { color: var(--soft); font-size: .9375rem }
.figures dd { margin: 0; font-size: 1.375rem; font-weight: 600; font-variant-numeric: tabular-nums }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid color-mix(in srgb, var(--soft) 35%, transparent); text-align: left; vertical-align: top }
thead th { color: var(--soft); font-size: .9375rem; font-weight: 600 }
.number { text-align: right; white-space: nowrap; padding-right: 0; padding-left: .75rem }
.record { padding: 1rem 0; border-top: 1px solid color-mix(in srgb, var(--soft) 35%, transparent) }
.record h2 { margin: 0 0 .5rem }
.record dl { display: grid; grid-template-columns: minmax(5rem, 8rem) 1fr; gap: .375rem .75rem; margin: .75rem 0 0 }
.record dt { color: var(--soft) }
.record dd { margin: 0; min-width: 0 }
code { font: .9375rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
@media (max-width: 30rem) { .record dl { grid-template-columns: 1fr } .record dd { margin-bottom: .375rem } }
`,
  (title, body) => html`<main>
<h1>${title}</h1>
${body}
</main>`,
);
