/**
 * What an element means to somebody who reads HTML as text. Elements that are not named here stand in the line and
 * change nothing: `b`, `span`, `font`, and also `head`, whose children say for themselves that they are not shown.
 */

export type ElementRole =
  /** An empty line before and behind it. */
  | "paragraph"
  /** Lines of its own. */
  | "line"
  | "list"
  | "item"
  | "quote"
  | "preformatted"
  | "rule"
  /** Apart from the cell before it, in the same line. */
  | "cell"
  | "break"
  | "link"
  | "picture"
  /** No content and nothing to show. */
  | "void"
  /** Not shown, and what it holds is no HTML: it ends at the first end tag of its name. */
  | "raw"
  /** Holds HTML that is not shown. */
  | "unseen"
  | "inline";

const elementsByRole: Readonly<Record<Exclude<ElementRole, "inline">, string>> = {
  paragraph: "p h1 h2 h3 h4 h5 h6 table dl figure",
  line:
    "address article aside caption center dd details div dt fieldset figcaption footer form header hgroup legend " +
    "main nav optgroup option search section summary tbody tfoot thead tr",
  list: "dir menu ol ul",
  item: "li",
  quote: "blockquote",
  preformatted: "pre",
  rule: "hr",
  cell: "td th",
  break: "br",
  link: "a",
  picture: "img",
  void: "area base col embed input link meta source track wbr",
  raw: "iframe noembed noframes script style title",
  unseen: "datalist template",
};

const roles = new Map<string, ElementRole>();
for (const [role, names] of Object.entries(elementsByRole)) {
  for (const name of names.split(" ")) roles.set(name, role as ElementRole);
}

/** Elements that have no end tag (HTML Standard, section 13.1.2). */
const voidRoles: ReadonlySet<ElementRole> = new Set(["break", "picture", "rule", "void"]);
const inlineRoles: ReadonlySet<ElementRole> = new Set(["break", "inline", "link", "picture", "raw", "void"]);

/** @param name in lower case */
export function roleOf(name: string): ElementRole {
  return roles.get(name) ?? "inline";
}

export function isVoid(role: ElementRole): boolean {
  return voidRoles.has(role);
}

/** Whether a paragraph ends where such an element begins or ends, by the letter or not. */
export function endsParagraph(role: ElementRole): boolean {
  return !inlineRoles.has(role);
}
