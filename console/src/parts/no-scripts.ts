/**
 * What the code editor has in place of the grammar of JavaScript, with its names (vite.config.ts): scripts and handlers of events
 * are text without colours, because no mail program runs them.
 */
import { LanguageSupport, StreamLanguage } from "@codemirror/language";

const text = StreamLanguage.define({
  token(line) {
    line.skipToEnd();
    return null;
  },
});
const language = { parser: Object.assign(text.parser, { configure: () => text.parser }) };

export const javascriptLanguage = language;
export const typescriptLanguage = language;
export const jsxLanguage = language;
export const tsxLanguage = language;

export function javascript(): LanguageSupport {
  return new LanguageSupport(text);
}
