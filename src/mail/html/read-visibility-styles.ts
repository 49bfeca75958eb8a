/**
 * Reads from the style sheets of a mail which elements are hidden. Only the properties that decide this are kept, each
 * once and with a short value, so that the cost of an element does not depend on the size of the style sheets.
 */

interface Declared {
  /** In lower case, without `!important`. */
  readonly value: string;
  readonly isImportant: boolean;
}

/** By property, in lower case. */
export type Declarations = ReadonlyMap<string, Declared>;

/** The declarations of a mail's style sheets that decide visibility. */
export interface StyleSheets {
  /** By class or id, with its `.` or `#`: declarations by element in lower case, or for all elements (""). */
  readonly rules: ReadonlyMap<string, ReadonlyMap<string, Declarations>>;
  /**
   * Elements, classes and ids that any other rule may give a visible font size, including rules for certain screens;
   * `*` for any element.
   */
  readonly sized: ReadonlySet<string>;
}

interface Rule {
  readonly element: string;
  readonly name: string;
  readonly declarations: Declarations;
}

/** Limits: characters of HTML that are searched for style sheets, and characters of style sheets that are read. */
const LONGEST_HTML = 256 * 1024;
const LONGEST_STYLES = 100_000;
/** Values that decide anything are shorter. */
const LONGEST_VALUE = 40;
/** Limit of rules with these properties, and of selectors of one rule. */
const MOST_RULES = 200;
const DECIDING: ReadonlySet<string> = new Set([
  "display",
  "visibility",
  "opacity",
  "height",
  "width",
  "max-height",
  "max-width",
  "overflow",
  "font-size",
  "font",
  "mso-hide",
]);
const mayDecide = /(?:display|visibility|opacity|height|width|overflow|font|font-size|mso-hide)\s*:/i;
/** A selector of one class or id, optionally with an element, and nothing around it except html and body. */
const simpleSelector = /^(?:(?:html|body)\s+)*([a-z][a-z0-9]*|\*)?([.#][\w-]+)$/i;
/** Parts of a selector that may contain commas and blanks. */
const bracketed = /\[[^\]]{0,200}\]|\([^()]{0,200}\)/g;
/** Media queries that match every screen. */
const everyScreen = /^@media\s+(?:all|(?:only\s+)?screen|(?:all\s*,\s*)?print\s*,\s*screen)\s*$/i;
/** A font size of 1 px or less. */
export const noSize = /^(?:0*\.?0+(?:[a-z]+|%)?|(?:0?\.\d+|1(?:\.0+)?)(?:px|pt)|0?\.0\d*r?em)$/;
/** A font size that is inherited. */
const sameSize = /^(?:inherit|unset|100%|1em)$/;

/** Reads the style sheets in the HTML, in time linear in its length. */
export function styleSheetsOf(html: string): StyleSheets {
  const css = /<style/i.test(html) ? styleTextOf(html.slice(0, LONGEST_HTML)) : "";
  const { rules, sized, isCut } = rulesOf(withoutComments(css.slice(0, LONGEST_STYLES)));
  if (isCut || css.length > LONGEST_STYLES || html.length > LONGEST_HTML) sized.add("*");
  const byName = new Map<string, Map<string, Declarations>>();
  for (const { name, element, declarations } of rules) {
    const named = byName.get(name) ?? new Map<string, Declarations>();
    named.set(element, merged([named.get(element), declarations]));
    byName.set(name, named);
  }
  return { rules: byName, sized };
}

/** The relevant declarations in the text of a rule or a `style` attribute. */
export function declarationsOf(text: string): Declarations {
  const found = new Map<string, Declared>();
  if (!mayDecide.test(text)) return found;
  for (const declaration of text.split(";")) {
    const colon = declaration.indexOf(":");
    if (colon === -1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    if (!DECIDING.has(name)) continue;
    const value = declaration
      .slice(colon + 1)
      .trim()
      .toLowerCase();
    const isImportant = value.endsWith("!important");
    const plain = isImportant ? value.slice(0, -"!important".length).trim() : value;
    add(found, name, { value: plain.slice(0, LONGEST_VALUE), isImportant });
  }
  return found;
}

/** Merges declarations: the last one of each property counts, or the last important one. */
export function merged(parts: readonly (Declarations | undefined)[]): Declarations {
  const present = parts.filter((part) => part !== undefined);
  if (present.length === 1 && present[0] !== undefined) return present[0];
  const all = new Map<string, Declared>();
  for (const part of present) for (const [name, declared] of part) add(all, name, declared);
  return all;
}

function add(declarations: Map<string, Declared>, name: string, declared: Declared): void {
  if (declarations.get(name)?.isImportant === true && !declared.isImportant) return;
  declarations.set(name, declared);
}

/** The content of all style elements outside of comments. */
function styleTextOf(html: string): string {
  let styles = "";
  const starts = /<!--|<style\b[^>]{0,200}>/gi;
  for (let start = starts.exec(html); start !== null; start = starts.exec(html)) {
    const isComment = start[0] === "<!--";
    const end = endOf(
      html,
      isComment ? /-->/g : /<\/style/gi,
      isComment ? start.index + 2 : starts.lastIndex,
    );
    if (!isComment) styles += html.slice(starts.lastIndex, end);
    if (styles.length > LONGEST_STYLES) break;
    starts.lastIndex = end;
  }
  return styles.replaceAll(/<!--|-->/g, "");
}

/** The offset of the next match, or the end. */
function endOf(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? html.length;
}

/** The rules that decide visibility: in order, those for a class or an id that apply to every screen. */
function rulesOf(css: string): { rules: Rule[]; sized: Set<string>; isCut: boolean } {
  const rules: Rule[] = [];
  const sized = new Set<string>();
  let start = 0;
  /** Number of open blocks that apply only to some screens or contain other rules. */
  let skipped = 0;
  let selectors: string | null = null;
  const braces = /[{};]/g;
  for (let brace = braces.exec(css); brace !== null; brace = braces.exec(css)) {
    if (rules.length >= MOST_RULES) return { rules, sized, isCut: true };
    if (brace[0] === ";" && selectors !== null) continue;
    const text = css.slice(start, brace.index).trim();
    start = braces.lastIndex;
    if (brace[0] === "{") {
      if (selectors !== null || (text.startsWith("@") && (skipped > 0 || !everyScreen.test(text)))) skipped++;
      selectors = text.startsWith("@") ? null : text;
    } else if (brace[0] === "}") {
      if (selectors !== null) addRule(selectors, declarationsOf(text), skipped === 0, { rules, sized });
      else if (skipped > 0) skipped--;
      selectors = null;
    }
  }
  return { rules, sized, isCut: false };
}

function addRule(
  selectors: string,
  declarations: Declarations,
  isForAll: boolean,
  { rules, sized }: { rules: Rule[]; sized: Set<string> },
): void {
  if (declarations.size === 0) return;
  const size = (declarations.get("font-size") ?? declarations.get("font"))?.value;
  const isSize = size !== undefined && !noSize.test(size) && !sameSize.test(size);
  const each = selectors.replaceAll(bracketed, ":_").split(",", MOST_RULES + 1);
  if (isSize && each.length > MOST_RULES) sized.add("*");
  for (const selector of each) {
    const [, element = "", name = ""] = (isForAll && simpleSelector.exec(selector.trim())) || [];
    if (name !== "")
      rules.push({ element: element === "*" ? "" : element.toLowerCase(), name, declarations });
    else if (isSize) sized.add(lastNameOf(selector));
  }
}

/** The class, id or element that a selector selects, or `*`. */
function lastNameOf(selector: string): string {
  const last =
    selector
      .trim()
      .split(/[\s>+~]+/)
      .at(-1) ?? "";
  if (/[()[\]]/.test(selector)) return "*";
  return /[.#][\w-]+/.exec(last)?.[0] ?? /^[a-z][a-z0-9]*/i.exec(last)?.[0].toLowerCase() ?? "*";
}

function withoutComments(css: string): string {
  const [first = "", ...rest] = css.split("/*");
  return first + rest.map((part) => (part.includes("*/") ? part.slice(part.indexOf("*/") + 2) : "")).join("");
}
