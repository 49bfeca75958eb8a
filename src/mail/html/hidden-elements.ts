/**
 * Finds the elements of a mail that its style sheets or `style` attributes hide: the preheader that mail programs show
 * beside the subject, and parts for small screens. An element counts as hidden only if that is certain, because hidden
 * words are left out of the text.
 */
import {
  type Declarations,
  declarationsOf,
  merged,
  noSize,
  type StyleSheets,
  styleSheetsOf,
} from "./read-visibility-styles.ts";

/** `text`: a font size of zero, which hides neither pictures nor elements with a font size of their own. */
export type Hiding = "all" | "text" | null;

/** The attributes of an element that decide whether it is hidden. */
export interface StyledElement {
  /** In lower case. */
  readonly element: string;
  readonly classes: string;
  readonly id: string;
  readonly style: string;
  readonly size: string;
}

/** Classes of an element that are considered. */
const MOST_CLASSES = 20;
/** An element with a longer `style` counts as visible. */
const LONGEST_STYLE = 4_000;
const zero = /^0*\.?0+(?:px|pt|em|rem|%|vh|vw)?$/;
const preheaderName = /pre-?header|preview|pre-?heading/i;
/** Browsers give these elements a font size of their own. */
const FIELDS: ReadonlySet<string> = new Set(["button", "select", "textarea"]);

/** Decides which elements the styles of one mail hide. */
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

  /** Whether an element inside an element with font size zero may have a visible font size. */
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

  /** The declarations of the style sheets, then those of the `style` attribute. */
  #declarationsFor({ element, style }: StyledElement, names: readonly string[]): Declarations {
    const rules = names.flatMap((name) => {
      const named = this.#sheets.rules.get(name);
      return named === undefined ? [] : [named.get(""), named.get(element)];
    });
    return merged([...rules, declarationsOf(style)]);
  }
}

/** The classes and the id of an element as selectors. */
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
    // On its own, mso-hide hides only from Outlook what all other programs show, such as a button.
    (is("mso-hide", /^all$/) && isPreheader());
  if (isHidden) return "all";
  return is("font-size", noSize) ? "text" : null;
}
