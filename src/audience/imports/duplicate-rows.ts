/**
 * Finds people who are in an import file more than once, for files of a million rows: the last row of each person, by a hash
 * of the address. The table holds 96 bits of hash and the row number in 16 bytes a person; a map of strings would take
 * 150. Two addresses are taken for the same in 1 of 10^17 files of a million rows.
 */

/** Words of 32 bits in a slot: row number plus one (0: free), and the hash. */
const SLOT = 4;
const LEAST_SLOTS = 2 ** 12;

export class LastRows {
  #slots = LEAST_SLOTS;
  #used = 0;
  #table: Uint32Array;
  readonly #hash = new Uint32Array(3);

  /**
   * @param expected number of people for which the table need not grow; each table that it outgrows stays in memory until
   * the garbage collector frees it
   */
  constructor(expected = 0) {
    while (this.#slots < 2 * expected) this.#slots *= 2;
    this.#table = new Uint32Array(this.#slots * SLOT);
  }

  /** Records that this row has the address; returns the previous row that had it, if any. */
  note(email: string, row: number): number | undefined {
    if (this.#used * 2 >= this.#slots) this.#grow();
    hashInto(this.#hash, email);
    const before = this.#put(row);
    if (before === 0) this.#used++;
    return before === 0 ? undefined : before - 1;
  }

  /** The place in the table of the slot with this hash, or of the free slot where it belongs. */
  #find(): number {
    const table = this.#table;
    const hash = this.#hash;
    const mask = this.#slots - 1;
    let slot = (hash[0] ?? 0) & mask;
    for (;;) {
      const at = slot * SLOT;
      const isIt = table[at + 1] === hash[0] && table[at + 2] === hash[1] && table[at + 3] === hash[2];
      if (table[at] === 0 || isIt) return at;
      slot = (slot + 1) & mask;
    }
  }

  #put(row: number): number {
    const at = this.#find();
    const table = this.#table;
    const hash = this.#hash;
    const before = table[at] ?? 0;
    table[at] = row + 1;
    // One by one: TypedArray.set takes longer than all the rest.
    table[at + 1] = hash[0] ?? 0;
    table[at + 2] = hash[1] ?? 0;
    table[at + 3] = hash[2] ?? 0;
    return before;
  }

  #grow(): void {
    const old = this.#table;
    this.#slots *= 2;
    this.#table = new Uint32Array(this.#slots * SLOT);
    for (let at = 0; at < old.length; at += SLOT) {
      const row = old[at] ?? 0;
      if (row === 0) continue;
      for (let word = 0; word < this.#hash.length; word++) this.#hash[word] = old[at + 1 + word] ?? 0;
      this.#put(row - 1);
    }
  }
}

/** Three FNV-1a hashes with different seeds and factors and a shift in each step, finished as in MurmurHash3. */
function hashInto(hash: Uint32Array, text: string): void {
  let [a, b, c] = [0x811c9dc5, 0x9747b28c, 0x1b873593];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    a ^= a >>> 15;
    b = Math.imul(b ^ code, 0x5bd1e995);
    b ^= b >>> 13;
    c = Math.imul(c ^ code, 0xcc9e2d51);
    c ^= c >>> 14;
  }
  hash[0] = finished(a ^ text.length);
  hash[1] = finished(b);
  hash[2] = finished(c);
}

function finished(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
