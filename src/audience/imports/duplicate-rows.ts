/**
 * Who is in a file more than once, for files of a million rows: the last row of each person, found by a hash of the
 * address. The table holds 96 bits of hash and the row's number in 16 bytes a person (a map of strings would take 150),
 * so that two addresses are taken for one in 1 of 10^17 files of a million rows.
 */

const SLOT = 4;
const LEAST_SLOTS = 2 ** 12;

export interface LastRows {
  /** Notes that this row has the address; answers the row before that had it, if one did. */
  note(email: string, row: number): number | undefined;
}

/**
 * @param expected so many people take no second table; for more it grows, and each table that it leaves is memory that the
 * collector takes its time to find
 */
export function createLastRows(expected = 0): LastRows {
  let slots = LEAST_SLOTS;
  while (slots < 2 * expected) slots *= 2;
  let used = 0;
  let table = new Uint32Array(slots * SLOT);
  const hash = new Uint32Array(3);

  /** The slot of what is in `hash`: its own, or the free one where it belongs. Rows are held plus one; 0 is free. */
  const find = (): number => {
    let slot = (hash[0] ?? 0) & (slots - 1);
    for (;;) {
      const at = slot * SLOT;
      const isIt = table[at + 1] === hash[0] && table[at + 2] === hash[1] && table[at + 3] === hash[2];
      if (table[at] === 0 || isIt) return at;
      slot = (slot + 1) & (slots - 1);
    }
  };
  const put = (row: number) => {
    const at = find();
    const before = table[at] ?? 0;
    table[at] = row + 1;
    // One by one: TypedArray.set takes longer than all the rest.
    table[at + 1] = hash[0] ?? 0;
    table[at + 2] = hash[1] ?? 0;
    table[at + 3] = hash[2] ?? 0;
    return before;
  };
  const grow = () => {
    const old = table;
    slots *= 2;
    table = new Uint32Array(slots * SLOT);
    for (let at = 0; at < old.length; at += SLOT) {
      const row = old[at] ?? 0;
      if (row === 0) continue;
      for (let word = 0; word < hash.length; word++) hash[word] = old[at + 1 + word] ?? 0;
      put(row - 1);
    }
  };

  return {
    note(email, row) {
      if (used * 2 >= slots) grow();
      hashInto(hash, email);
      const before = put(row);
      if (before === 0) used++;
      return before === 0 ? undefined : before - 1;
    },
  };
}

/** Three times FNV-1a with a shift in each step, of other seeds and factors, stirred as MurmurHash3 does at its end. */
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
  hash[0] = stirred(a ^ text.length);
  hash[1] = stirred(b);
  hash[2] = stirred(c);
}

function stirred(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
