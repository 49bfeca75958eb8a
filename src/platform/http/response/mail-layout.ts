/** The HTML of the service's own mails, in the look of its pages. Mail programs keep no style sheets: each element has its own. */
import { type Html, html } from "./page.ts";

/** @param width of its column, in em */
export function letter(subject: string, body: Html, width = 30): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.6 system-ui,sans-serif;color:#1b1f24">
<div style="max-width:${width}em;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3">${subject}</h1>
${body}
</div>
</body>
</html>
`.toString();
}
