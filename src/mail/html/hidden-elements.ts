/**
 * Which elements of a mail its style sheets and `style` attributes hide: the preheader that programs show beside the
 * subject, and parts for small screens. Only what surely hides counts, because what is taken for hidden has no place in
 * the text of a mail.
 */
import {
  type Declarations,
  declarationsOf,
  merged,
  noSize,
  type StyleSheets,
  styleSheetsOf,
} from "./style-sheets.ts";

/** `text`: letters of no size, which hide neither pictures nor elements with a size of their own. */
export type Hiding = "all" | "text" | null;

/** What the attributes of an element say. */
export interface StyledElement {
  /** In lower case. */
  readonly element: string;
  readonly classes: string;
  readonly id: string;
  readonly style: string;
  readonly size: string;
}

/** Of an element: more are not looked at. */
const MOST_CLASSES = 20;
/** An element with a longer `style` counts as seen. */
const LONGEST_STYLE = 4_000;
const zero = /^0*\.?0+(?:px|pt|em|rem|%|vh|vw)?$/;
const preheaderName = /pre-?header|preview|pre-?heading/i;
/** To these browsers give a size of their own. */
const FIELDS: ReadonlySet<string> = new Set(["button", "select", "textarea"]);

export class HidingStyles {
  readonly #sheets: StyleSheets;

  constructor(html: string) {
    this.#sheets = styleSheetsOf(html);
  }

  hiding(styled: StyledElement): Hiding {
    if (styled.element === "body" || styled.element === "html" || styled.style.length > LONGEST_STYLE)
      return null;
    const declarations = this.#declarationsFor(styled, namesOf(styled));
    return hidingOf(declarations, () => preheaderName.test(`${styled.classes} ${styled.id}`));
  }

  /** Whether an element inside one without letters of a size may have letters of a size of its own, which are seen. */
  givesSize(styled: StyledElement): boolean {
    const { element, style, size } = styled;
    if (style.length > LONGEST_STYLE) return true;
    const names = namesOf(styled);
    const declarations = this.#declarationsFor(styled, names);
    const hiding = hidingOf(declarations, () => false);
    if (declarations.has("font-size") || declarations.has("font") || hiding === "all") return hiding === null;
    if (FIELDS.has(element) || (element === "font" && size !== "")) return true;
    const { sized } = this.#sheets;
    return sized.size > 0 && (sized.has("*") || sized.has(element) || names.some((name) => sized.has(name)));
  }

  /** Those of its `style` behind those of the style sheets. */
  #declarationsFor({ element, style }: StyledElement, names: readonly string[]): Declarations {
    const rules = names.flatMap((name) => {
      const named = this.#sheets.rules.get(name);
      return named === undefined ? [] : [named.get(""), named.get(element)];
    });
    return merged([...rules, declarationsOf(style)]);
  }
}

/** Its classes and its id as selectors name them. */
function namesOf({ classes, id }: StyledElement): string[] {
  if (classes === "" && id === "") return [];
  const names = new Set(classes.split(/\s+/, MOST_CLASSES));
  return [...[...names].map((name) => `.${name}`), `#${id}`];
}

function hidingOf(declarations: Declarations, isPreheader: () => boolean): Hiding {
  if (declarations.size === 0) return null;
  const is = (name: string, pattern: RegExp) => pattern.test(declarations.get(name)?.value ?? "");
  const isClipped =
    is("overflow", /^hidden/) && (is("height", zero) || is("width", zero) || is("max-width", zero));
  const isHidden =
    is("display", /^none$/) ||
    is("visibility", /^(?:hidden|collapse)$/) ||
    is("opacity", zero) ||
    is("max-height", zero) ||
    isClipped ||
    // By itself it hides from Outlook alone what all others show, such as a button.
    (is("mso-hide", /^all$/) && isPreheader());
  if (isHidden) return "all";
  return is("font-size", noSize) ? "text" : null;
}
