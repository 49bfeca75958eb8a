/**
 * Which elements of a mail its style sheets and `style` attributes hide: the preheader that programs show beside the
 * subject, and parts for small screens. Only what surely hides counts, because what is taken for hidden has no place in
 * the text of a mail.
 */

/** `text`: letters of no size, which hide neither pictures nor elements with a size of their own. */
export type Hiding = "all" | "text" | null;

/** What the attributes of an element say. */
export interface StyledElement {
  /** In lower case. */
  readonly element: string;
  readonly classes: string;
  readonly id: string;
  readonly style: string;
}

interface Rule {
  readonly element: string;
  /** With its `.` or `#`. */
  readonly name: string;
  readonly declarations: string;
}

/** Characters of HTML that are searched for style sheets, and of style sheets that are read. */
const LONGEST_HTML = 256 * 1024;
const LONGEST_STYLES = 100_000;
/** Of a value that decides anything. */
const LONGEST_VALUE = 40;
/** Of an element, and of the rules of one name the last: more are not looked at. */
const MOST_CLASSES = 20;
const MOST_OF_A_NAME = 10;
/** More rules about these properties are not looked at. */
const MOST_RULES = 200;
/** Nothing without one of these hides. */
const mayHide =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*[0.]|height\s*:\s*0|width\s*:\s*0|font-size\s*:\s*[01.]|mso-hide/i;
/** Declares a property that decides about it, one way or the other. */
const mayDecide = /(?:display|visibility|opacity|height|width|overflow|font-size|mso-hide)\s*:/i;
const zero = /^0*\.?0+(?:px|pt|em|rem|%|vh|vw)?$/;
/** Of letters: 1 px or less. */
const noSize = /^(?:0*\.?0+(?:[a-z]+|%)?|(?:0?\.\d+|1(?:\.0+)?)(?:px|pt)|0?\.0\d*r?em)$/;
/** Of one element by its class or its id, with nothing around it but the page. */
const simpleSelector = /^(?:(?:html|body)\s+)*([a-z][a-z0-9]*|\*)?([.#][\w-]+)$/i;
/** Style sheets that hold on every screen. */
const everyScreen = /^@media\s+(?:all|(?:only\s+)?screen|(?:all\s*,\s*)?print\s*,\s*screen)\s*$/i;
const preheaderName = /pre-?header|preview|pre-?heading/i;

export class HidingStyles {
  /** By name, in order. */
  readonly #rules: ReadonlyMap<string, readonly Rule[]>;

  constructor(html: string) {
    const css = /<style/i.test(html) ? withoutComments(styleSheetsOf(html.slice(0, LONGEST_HTML))) : "";
    this.#rules = Map.groupBy(rulesOf(css), ({ name }) => name);
  }

  hiding(styled: StyledElement): Hiding {
    if (styled.element === "body" || styled.element === "html") return null;
    const declarations = this.#declarationsFor(styled);
    if (!mayHide.test(declarations)) return null;
    return hidingOf(declarations, preheaderName.test(`${styled.classes} ${styled.id}`));
  }

  /** Whether an element has letters of a size of its own, which are seen. */
  givesSize(styled: StyledElement): boolean {
    return /font(?:-size)?\s*:/i.test(this.#declarationsFor(styled)) && this.hiding(styled) === null;
  }

  /** Those of its `style` behind those of the style sheets. */
  #declarationsFor({ element, classes, id, style }: StyledElement): string {
    if (this.#rules.size === 0 || (classes === "" && id === "")) return style;
    const names = [...classes.split(/\s+/, MOST_CLASSES).map((name) => `.${name}`), `#${id}`];
    const rules = names.flatMap((name) => {
      const named = this.#rules.get(name) ?? [];
      return named.slice(-MOST_OF_A_NAME).filter((rule) => rule.element === "" || rule.element === element);
    });
    return [...rules.map(({ declarations }) => declarations), style].join(";");
  }
}

/** By the declarations of an element, of which the last of a property holds, or the last that is important. */
function hidingOf(declarations: string, isPreheader: boolean): Hiding {
  const values = new Map<string, string>();
  const important = new Set<string>();
  for (const declaration of declarations.split(";")) {
    const colon = declaration.indexOf(":");
    if (colon === -1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .trim()
      .toLowerCase();
    const isImportant = value.endsWith("!important");
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    values.set(
      name,
      value
        .replace(/!important$/, "")
        .trim()
        .slice(0, LONGEST_VALUE),
    );
  }
  const is = (name: string, pattern: RegExp) => pattern.test(values.get(name) ?? "");
  const isClipped =
    is("overflow", /^hidden/) && (is("height", zero) || is("width", zero) || is("max-width", zero));
  const isHidden =
    is("display", /^none$/) ||
    is("visibility", /^(?:hidden|collapse)$/) ||
    is("opacity", zero) ||
    is("max-height", zero) ||
    isClipped ||
    // By itself it hides from Outlook alone what all others show, such as a button.
    (isPreheader && is("mso-hide", /^all$/));
  if (isHidden) return "all";
  return is("font-size", noSize) ? "text" : null;
}

/** The style sheets that are no comments. */
function styleSheetsOf(html: string): string {
  let styles = "";
  const marks = /<!--|<style\b[^>]{0,200}>/gi;
  for (let mark = marks.exec(html); mark !== null; mark = marks.exec(html)) {
    const isComment = mark[0] === "<!--";
    const end = endOf(html, isComment ? /-->/g : /<\/style/gi, isComment ? mark.index + 2 : marks.lastIndex);
    if (!isComment) styles += html.slice(marks.lastIndex, end);
    if (styles.length > LONGEST_STYLES) break;
    marks.lastIndex = end;
  }
  return styles.slice(0, LONGEST_STYLES).replaceAll(/<!--|-->/g, "");
}

/** The place of a mark behind an offset, or the end. */
function endOf(html: string, mark: RegExp, from: number): number {
  mark.lastIndex = from;
  return mark.exec(html)?.index ?? html.length;
}

/** The rules that hold on every screen and decide whether an element is seen, in order. */
function rulesOf(css: string): Rule[] {
  const rules: Rule[] = [];
  let start = 0;
  /** How many blocks are open that hold on some screens only. */
  let skipped = 0;
  let selectors: string | null = null;
  const braces = /[{};]/g;
  for (let brace = braces.exec(css); brace !== null && rules.length < MOST_RULES; brace = braces.exec(css)) {
    if (brace[0] === ";" && selectors !== null) continue;
    const text = css.slice(start, brace.index).trim();
    start = braces.lastIndex;
    if (brace[0] === "{") {
      if (skipped > 0 || (text.startsWith("@") && !everyScreen.test(text))) skipped++;
      else if (!text.startsWith("@")) selectors = text;
    } else if (brace[0] === "}") {
      if (skipped > 0) skipped--;
      else if (selectors !== null && mayDecide.test(text)) rules.push(...rulesFor(selectors, text));
      selectors = null;
    }
  }
  return rules;
}

function withoutComments(css: string): string {
  const [first = "", ...rest] = css.split("/*");
  return first + rest.map((part) => (part.includes("*/") ? part.slice(part.indexOf("*/") + 2) : "")).join("");
}

function rulesFor(selectors: string, declarations: string): Rule[] {
  return selectors.split(",").flatMap((selector) => {
    const [, element = "", name = ""] = simpleSelector.exec(selector.trim()) ?? [];
    return name === "" ? [] : [{ element: element === "*" ? "" : element.toLowerCase(), name, declarations }];
  });
}
