/**
 * What an element means to somebody who reads HTML as text. Elements that are not named here stand in the line and
 * change nothing: `b`, `span`, `font`, and also `head`, whose children say for themselves that they are not shown.
 */

export type ElementRole =
  /** An empty line before and behind it. */
  | "paragraph"
  /** Lines of its own. */
  | "line"
  | "bullets"
  | "numbers"
  | "item"
  | "quote"
  | "preformatted"
  | "rule"
  | "table"
  | "row"
  /** In the line of the cell before it, but apart from it. */
  | "cell"
  | "break"
  | "link"
  | "picture"
  /** Without content, and without anything to show. */
  | "void"
  /** Not shown, and holds no HTML: it ends at the first end tag of its name. */
  | "raw"
  /** Holds HTML that is not shown. */
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
/** Elements that may stand inside a paragraph. */
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
 * The names as a trie: for a node and an ASCII character, the node that follows. Reading names off the HTML this way
 * makes reading tags a fifth faster than a Map of strings does. Node 0 stands for every other name.
 */
const width = 128;
const root = 1;
const roles: ElementRole[] = ["inline", "inline"];
const follows = new Uint16Array(width * (root + 1 + Object.values(namesOf).join("").length));
for (const [role, names] of Object.entries(namesOf)) {
  for (const name of names.split(" ")) roles[addName(name)] = role as ElementRole;
}

/** The role of the element whose name stands, in any case, at a place of the HTML. */
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

/** Whether a tag of such an element ends a paragraph that has not been ended. */
export function endsParagraph(role: ElementRole): boolean {
  return !phrasingRoles.has(role);
}

/** Returns the last node of the name. */
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
