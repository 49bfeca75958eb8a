/** Compiles templates so that they can be rendered for many recipients. */
import { type Liquid, Parser } from "liquidjs";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import { compileFast } from "./fast-render.ts";
import { type MergeValues, renderingEngine, renderWithLiquid, type TemplateKind } from "./liquid-engine.ts";
import { SourceTokenizer } from "./source-tokenizer.ts";
import { renderFault } from "./template-errors.ts";

/** The text, or a sentence that says why the template cannot be rendered with these values. */
export type Rendered<Text = string> =
  | { readonly ok: true; readonly text: Text }
  | { readonly ok: false; readonly message: string };
/** Renders a compiled template with the values of one recipient. */
export interface Render {
  (values: MergeValues): Rendered;
  /** Renders in the form that the composer takes: shared pieces and values, if the template allows that. */
  mailText(values: MergeValues): Rendered<MailText>;
}

/**
 * Compiles a template that has been read, including what was inserted since.
 * @param timezone IANA name, for the filter `date`
 * @throws LiquidError if the insertions broke the template
 */
export function compileTemplate(source: string, kind: TemplateKind, timezone: string): Render {
  const engine = renderingEngine(kind, timezone);
  const write = compileFast(engine, source) ?? liquidRenderer(engine, source);
  return renderOf((values) => {
    try {
      return { ok: true, text: write(values) };
    } catch (error) {
      return { ok: false, message: renderFault(error) };
    }
  });
}

/** Makes both forms of rendering from the one that the composer takes. */
export function renderOf(mailText: Render["mailText"]): Render {
  const render = (values: MergeValues): Rendered => {
    const rendered = mailText(values);
    return rendered.ok ? { ok: true, text: String(rendered.text) } : rendered;
  };
  return Object.assign(render, { mailText });
}

function liquidRenderer(engine: Liquid, source: string): (values: MergeValues) => string {
  const tokens = new SourceTokenizer(source).readTopLevelTokens(engine.options);
  const templates = new Parser(engine).parseTokens(tokens);
  return (values) => renderWithLiquid(engine, templates, values);
}
