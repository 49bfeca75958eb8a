/** The HTML layout of mails from the service itself. Styles are inline, because mail programs drop style sheets. */
import { DEFAULT_LANGUAGE, directionOf, htmlTagOf, type Language } from "#platform/languages/language.ts";
import { type Html, html } from "./html-page.ts";

interface LetterOptions {
  /** Of the column, in em. */
  readonly width?: number;
  readonly language?: Language | undefined;
}

export function letter(
  subject: string,
  body: Html,
  { width = 30, language = DEFAULT_LANGUAGE }: LetterOptions = {},
): string {
  const direction = directionOf(language);
  return html`<!doctype html>
<html lang="${htmlTagOf(language)}" dir="${direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.6 system-ui,sans-serif;color:#1b1f24">
<div dir="${direction}" style="max-width:${width}em;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3">${subject}</h1>
${body}
</div>
</body>
</html>
`.toString();
}
