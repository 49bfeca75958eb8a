/** The look of CodeMirror: the console's own colours, which follow the light or dark theme, under the page's content policy. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--sunken) 70%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-matchingBracket, .cm-selectionMatch": { backgroundColor: "var(--selected)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warning) 30%, transparent)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--warning)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 32px 8px 12px", fontFamily: "var(--font-sans)" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    minHeight: "24px",
    fontSize: "12px",
  },
  ".cm-textfield": {
    backgroundColor: "var(--surface)",
    border: "1px solid var(--control)",
    borderRadius: "6px",
    fontSize: "13px",
    padding: "3px 8px",
  },
  ".cm-button": {
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    border: "1px solid var(--control)",
    borderRadius: "6px",
    fontSize: "12px",
    padding: "3px 8px",
  },
  ".cm-panel.cm-search [name=close]": { fontSize: "20px", width: "28px", color: "var(--muted)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--selected)",
    color: "var(--text)",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font-sans)" },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--sunken)",
    border: "none",
    color: "var(--muted)",
    padding: "0 6px",
  },
});

const colours = HighlightStyle.define([
  { tag: tags.tagName, color: "var(--accent)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--info)" },
  { tag: [tags.attributeValue, tags.string], color: "var(--good)" },
  { tag: [tags.comment, tags.meta, tags.angleBracket], color: "var(--muted)" },
  { tag: [tags.number, tags.unit, tags.color, tags.character], color: "var(--warning)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export function codeLook(): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
  return [EditorView.cspNonce.of(nonce), theme, syntaxHighlighting(colours)];
}
