/**
 * The open elements of HTML that is read tag by tag, as browsers keep them (HTML Standard, section 13.2.6): which tags
 * close which elements, also where end tags are missing. Where browsers move elements, as out of tables, an element
 * stays open here rather than closed.
 */

/** An element that is open, and what the reader keeps about it. */
interface OpenElement {
  readonly name: string;
  readonly isHidden: boolean;
}

const namesOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** They are not kept: a browser adds them where they are missing and ends them at the end of the document. */
const ofDocument = namesOf("html head body");
const cells = namesOf("td th caption");
const ofTables = namesOf("table tbody td tfoot th thead tr caption");
const headings = namesOf("h1 h2 h3 h4 h5 h6");
/** End tags do not reach beyond these. */
const barriers = namesOf("applet caption marquee object select table td template th");
/** Start tags that end an open paragraph. */
const blocks = namesOf(
  "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 " +
    "h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp",
);
/** A browser opens these again behind the block in which they were left open. */
const formatting = namesOf("a b big code em font i nobr s small strike strong tt u");
/** Elements that end their neighbour of the same list, up to the list. */
const neighbours: Readonly<Record<string, ReadonlySet<string>>> = {
  dd: namesOf("dd dt"),
  dt: namesOf("dd dt"),
  li: namesOf("li"),
};
/** An item is no neighbour of one outside of these. */
const aroundItems = new Set(
  [...blocks, ...barriers, "button"].filter((name) => !/^(?:address|div|p)$/.test(name)),
);

/** Browsers do not nest deeper, and a search takes no more steps: elements further out count as open. */
const deepest = 512;

export class OpenElements {
  readonly #open: OpenElement[] = [];
  #hidden = 0;
  /** Parts of tables outside of any table, which browsers ignore, by name. */
  readonly #loose = new Map<string, number>();

  /** Whether an open element is hidden. */
  get isHidden(): boolean {
    return this.#hidden > 0;
  }

  /** Applies a start tag of an element that may have content. */
  open(name: string, isHidden: boolean): void {
    if (ofDocument.has(name)) return;
    if (blocks.has(name)) this.#close("p");
    if (this.#isLoose(name)) {
      this.#loose.set(name, (this.#loose.get(name) ?? 0) + 1);
      return;
    }
    if (ofTables.has(name)) this.#endParts(name);
    const neighbour = neighbours[name];
    if (neighbour !== undefined) this.#endAt(this.#find((other) => neighbour.has(other), aroundItems));
    if (headings.has(name) && headings.has(this.#open.at(-1)?.name ?? "")) this.#endAt(this.#open.length - 1);
    if (name === "a" || name === "button" || name === "nobr") this.#close(name);
    this.#open.push({ name, isHidden });
    if (isHidden) this.#hidden++;
  }

  /** Applies the start tag of an element without content, which may end a paragraph. */
  openVoid(name: string): void {
    if (blocks.has(name)) this.#close("p");
  }

  /**
   * Applies an end tag.
   * @returns false if it ends no open element
   */
  close(name: string): boolean {
    if (ofDocument.has(name)) return true;
    if (!this.#isLoose(name)) return this.#close(name);
    const left = this.#loose.get(name) ?? 0;
    this.#loose.set(name, left - 1);
    return left > 0;
  }

  #isLoose(name: string): boolean {
    return (
      name !== "table" && ofTables.has(name) && this.#find((other) => other === "table", noBarrier) === -1
    );
  }

  #close(name: string): boolean {
    const isSame = (other: string) => other === name || (headings.has(name) && headings.has(other));
    const until = ofTables.has(name) ? namesOfTable : name === "p" ? aroundParagraphs : barriers;
    const at = this.#find(isSame, until, isInline(name));
    if (at === -1) return false;
    if (formatting.has(name)) this.#forget(this.#open.splice(at, 1));
    else this.#endAt(at);
    return true;
  }

  /** A cell ends the cell before it, a row the row, and a part of a table the part. */
  #endParts(name: string): void {
    if (name === "table") return;
    const ended = name === "td" || name === "th" ? cells : name === "tr" ? rowParts : tableParts;
    for (let at = this.#find((other) => ended.has(other), namesOfTable); at !== -1; ) {
      this.#endAt(at);
      at = this.#find((other) => ended.has(other), namesOfTable);
    }
  }

  /** The place of the innermost such element before a barrier; -1 if there is none. */
  #find(isWanted: (name: string) => boolean, until: ReadonlySet<string>, isInlineEnd = false): number {
    const last = Math.max(0, this.#open.length - deepest);
    for (let at = this.#open.length - 1; at >= last; at--) {
      const name = this.#open[at]?.name ?? "";
      if (isWanted(name)) return at;
      if (until.has(name) || (isInlineEnd && blocks.has(name))) return -1;
    }
    return -1;
  }

  /** Ends an element with all in it. Hidden formatting stays open behind its block, but not behind its cell. */
  #endAt(at: number): void {
    if (at === -1) return;
    const ended = this.#open.splice(at);
    this.#forget(ended);
    const cell = ended.findIndex(({ name }) => cells.has(name));
    for (const element of ended.slice(1, cell === -1 ? undefined : cell)) {
      if (!element.isHidden || !formatting.has(element.name)) continue;
      this.#open.push(element);
      this.#hidden++;
    }
  }

  #forget(elements: readonly OpenElement[]): void {
    for (const { isHidden } of elements) if (isHidden) this.#hidden--;
  }
}

const aroundParagraphs = new Set([...barriers, "button"]);
const noBarrier: ReadonlySet<string> = new Set();
const namesOfTable = namesOf("table template");
const rowParts = new Set([...cells, "tr"]);
const tableParts = new Set([...rowParts, "tbody", "tfoot", "thead"]);

/** Whether the end tag of such an element is ignored inside a block that is in it. */
function isInline(name: string): boolean {
  return ![blocks, ofTables, formatting, barriers].some((names) => names.has(name)) && name !== "button";
}
