/**
 * The fast renderer: a template of only texts and outputs becomes a list of pieces and value functions, so that a
 * message does not walk a syntax tree. Filters are LiquidJS's own, and the result equals LiquidJS's character for
 * character. Templates with conditions or loops are rendered by LiquidJS.
 */
import { type Context, type Liquid, type Token, Tokenizer, type TopLevelToken, TypeGuards } from "liquidjs";
import { TemplatePieces, TemplateText } from "#mail/message/shared-text-pieces.ts";
import { escapeHtml, textOf } from "./escape.ts";
import { filterContext, hrefTarget, type MergeValues, pixelImage } from "./liquid-engine.ts";
import { SourceTokenizer } from "./source-tokenizer.ts";

type Write = (values: MergeValues) => string;
type Read = (values: MergeValues) => unknown;
/** A fixed text of the template, or the function that writes a value. */
type Part = string | Write;
type FilterToken = ReturnType<Tokenizer["readFilters"]>[number];

/** Properties that LiquidJS computes. */
const computedProperties: ReadonlySet<string> = new Set(["first", "last", "size"]);

/** Compiles a template with its insertions; null if it needs LiquidJS. */
export function compileFast(engine: Liquid, source: string): ((values: MergeValues) => TemplateText) | null {
  const { context, begin } = filterContext(engine);
  const parts = new FastCompiler(engine, source, context).parts(null);
  if (parts === null) return null;
  const write = joinParts(parts);
  return (values) => {
    begin(values);
    return write(values);
  };
}

class FastCompiler {
  readonly #engine: Liquid;
  readonly #source: string;
  readonly #context: Context;
  /** The tokens that have not been read. */
  readonly #tokens: IterableIterator<TopLevelToken>;

  constructor(engine: Liquid, source: string, context: Context) {
    this.#engine = engine;
    this.#source = source;
    this.#context = context;
    this.#tokens = new SourceTokenizer(source).readTopLevelTokens(engine.options).values();
  }

  /** The parts up to the closing tag of that name, or to the end; null if LiquidJS is needed. */
  parts(closing: string | null): Part[] | null {
    const parts: Part[] = [];
    for (let next = this.#tokens.next(); !next.done; next = this.#tokens.next()) {
      const token = next.value;
      if (TypeGuards.isTagToken(token) && token.name === closing) return parts;
      const part = this.#part(token);
      if (part === null) return null;
      parts.push(part);
    }
    return parts;
  }

  #part(token: TopLevelToken): Part | null {
    if (TypeGuards.isHTMLToken(token)) return token.getContent();
    if (!TypeGuards.isTagToken(token)) return this.#output(token.contentRange);
    switch (token.name) {
      case "#":
        return "";
      case "comment":
        this.#skipTo("endcomment");
        return "";
      case "raw":
        return this.#skipTo("endraw");
      case "open_pixel":
        return ({ links }) => pixelImage(links);
      case "tracked_link":
        return this.#link(Number(token.args));
      default:
        return null;
    }
  }

  #link(index: number): Part | null {
    const address = this.parts("endtracked_link");
    if (address === null) return null;
    if (address.every((part) => typeof part === "string")) {
      const target = hrefTarget(address.join(""));
      return ({ links }) => escapeHtml(links.tracked(index, target, false));
    }
    const write = joinParts(address);
    return (values) => escapeHtml(values.links.tracked(index, hrefTarget(write(values).toString()), true));
  }

  #output(range: readonly [number, number]): Part | null {
    const { initial, filters } = new Tokenizer(this.#source, undefined, undefined, [
      ...range,
    ]).readFilteredValue();
    const [operand, ...more] = initial.postfix;
    const read = operand === undefined || more.length > 0 ? null : readerOf(operand);
    if (read === null) return null;
    let result = read;
    for (const filter of filters) {
      const filtered = this.#filtered(result, filter);
      if (filtered === null) return null;
      result = filtered;
    }
    const last = this.#engine.filters[filters.at(-1)?.name ?? ""];
    const { outputEscape } = this.#engine.options;
    if (outputEscape === undefined || (typeof last === "object" && last.raw)) {
      return (values) => textOf(result(values));
    }
    const self = { context: this.#context };
    return (values) => outputEscape.call(self, result(values));
  }

  /** A function that reads a value and applies a filter. */
  #filtered(read: Read, token: FilterToken): Read | null {
    const filter = this.#engine.filters[token.name];
    const handler = typeof filter === "object" ? filter.handler : filter;
    // LiquidJS has to run filters that are generators.
    if (handler === undefined || handler.constructor !== Function) return null;
    const readers: Read[] = [];
    for (const arg of token.args) {
      const [key, operand] = Array.isArray(arg) ? arg : [undefined, arg];
      const value = operand && readerOf(operand);
      if (value == null) return null;
      readers.push(key === undefined ? value : (values) => [key, value(values)]);
    }
    const self = { context: this.#context, liquid: this.#engine, token };
    return (values) => handler.call(self, read(values), ...readers.map((reader) => reader(values)));
  }

  /** Skips to a tag and past it; returns the text before it. */
  #skipTo(closing: string): string {
    let text = "";
    for (let next = this.#tokens.next(); !next.done; next = this.#tokens.next()) {
      if (TypeGuards.isTagToken(next.value) && next.value.name === closing) break;
      text += next.value.getText();
    }
    return text;
  }
}

/** A function that reads a name or a literal; null if LiquidJS has to evaluate the token. */
function readerOf(token: Token): Read | null {
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    const { content } = token;
    return () => content;
  }
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return null;
  const path: string[] = [];
  for (const name of token.props) {
    if (!TypeGuards.isWordToken(name) && !TypeGuards.isQuotedToken(name)) return null;
    path.push(name.content);
  }
  const [root = "", ...rest] = path;
  if (rest.some((name) => computedProperties.has(name))) return null;
  return ({ variables, more }) => {
    let found = ownProperty(root in variables ? variables : more, root);
    for (const name of rest) found = ownProperty(found, name);
    return found;
  };
}

function ownProperty(of: unknown, name: string): unknown {
  if (of === null || of === undefined) return of;
  const holder: Readonly<Record<string, unknown>> = Object(of);
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

/** Joins the fixed parts into shared pieces, with the values between them. */
function joinParts(parts: readonly Part[]): (values: MergeValues) => TemplateText {
  const pieces = [""];
  const writes: Write[] = [];
  for (const part of parts) {
    if (typeof part === "string") pieces.push((pieces.pop() ?? "") + part);
    else {
      writes.push(part);
      pieces.push("");
    }
  }
  const form = new TemplatePieces(pieces);
  return (values) =>
    new TemplateText(
      form,
      writes.map((write) => write(values)),
    );
}
