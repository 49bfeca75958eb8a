/**
 * The effect of each HTML element on a plain text. Elements that are not listed are inline and change nothing: `b`,
 * `span`, `font`, and also `head`, whose children are hidden elements themselves.
 */

export type ElementRole =
  /** Empty lines before and after it. */
  | "paragraph"
  /** Starts and ends on a line of its own. */
  | "line"
  | "bullets"
  | "numbers"
  | "item"
  | "quote"
  | "preformatted"
  | "rule"
  | "table"
  | "row"
  /** In the same line as the cell before it, separated by a blank. */
  | "cell"
  | "break"
  | "link"
  | "picture"
  /** The element has no content and shows nothing. */
  | "void"
  /** The content is not shown. It is not HTML and ends at the first end tag of the same name. */
  | "raw"
  /** The content is HTML and is not shown. */
  | "unseen"
  | "inline";

const namesOf: Readonly<Record<Exclude<ElementRole, "inline">, string>> = {
  paragraph: "p h1 h2 h3 h4 h5 h6 dl figure",
  line:
    "address article aside caption center dd details div dt fieldset figcaption footer form header hgroup legend " +
    "main nav optgroup option search section summary tbody tfoot thead",
  bullets: "dir menu ul",
  numbers: "ol",
  item: "li",
  quote: "blockquote",
  preformatted: "pre",
  rule: "hr",
  table: "table",
  row: "tr",
  cell: "td th",
  break: "br",
  link: "a",
  picture: "img",
  void: "area base col embed input link meta source track wbr",
  raw: "iframe noembed noframes script style title",
  unseen: "datalist template",
};

/** Elements that have no end tag (HTML Standard, section 13.1.2). */
const voidRoles: ReadonlySet<ElementRole> = new Set(["break", "picture", "rule", "void"]);
/** Elements that are allowed inside a paragraph. */
const phrasingRoles: ReadonlySet<ElementRole> = new Set([
  "break",
  "inline",
  "link",
  "picture",
  "raw",
  "unseen",
  "void",
]);

/**
 * The names as a trie: the next node for a node and an ASCII character. This makes reading tags a fifth faster than a
 * Map of strings. Node 0 stands for every other name.
 */
const width = 128;
const root = 1;
const roles: ElementRole[] = ["inline", "inline"];
const follows = new Uint16Array(width * (root + 1 + Object.values(namesOf).join("").length));
for (const [role, names] of Object.entries(namesOf)) {
  for (const name of names.split(" ")) roles[addName(name)] = role as ElementRole;
}

/** The role of the element with the name at these offsets, in any case. */
export function roleAt(codes: Uint16Array, start: number, end: number): ElementRole {
  let node = root;
  for (let at = start; at < end && node !== 0; at++) {
    const code = codes[at] ?? width;
    node = code < width ? (follows[width * node + code] ?? 0) : 0;
  }
  return roles[node] ?? "inline";
}

export function isVoid(role: ElementRole): boolean {
  return voidRoles.has(role);
}

/** Whether a tag of such an element ends an open paragraph. */
export function endsParagraph(role: ElementRole): boolean {
  return !phrasingRoles.has(role);
}

/** Adds a name to the trie; returns its last node. */
function addName(name: string): number {
  let node = root;
  for (const letter of name) {
    const row = width * node;
    node = follows[row + letter.charCodeAt(0)] || roles.push("inline") - 1;
    follows[row + letter.charCodeAt(0)] = node;
    follows[row + letter.toUpperCase().charCodeAt(0)] = node;
  }
  return node;
}
