/**
 * Octets in pieces, which are joined once: what many messages share is encoded once for all of them and only copied.
 */

/** A string stands for one octet a character (latin1), which for ASCII is the text itself. */
export type Octets = readonly (Buffer | string | Octets)[];

/** How many octets they are together. */
export function lengthOf(octets: Octets): number {
  let length = 0;
  for (const piece of octets) {
    length += typeof piece === "string" || Buffer.isBuffer(piece) ? piece.length : lengthOf(piece);
  }
  return length;
}

/** Copies them into a buffer that has room for them from `at` on; answers where they end. */
export function writeOctets(target: Buffer, octets: Octets, at = 0): number {
  let end = at;
  for (const piece of octets) {
    if (typeof piece === "string") end += target.write(piece, end, "latin1");
    else if (Buffer.isBuffer(piece)) {
      target.set(piece, end);
      end += piece.length;
    } else end = writeOctets(target, piece, end);
  }
  return end;
}

/** All of them in one buffer, which is their own where there are several. */
export function joinOctets(octets: Octets): Buffer {
  const [only] = octets;
  if (octets.length === 1 && Buffer.isBuffer(only)) return only;
  // Outside the engine's pool: a message lives longer than what else is in there, and would keep all of it.
  const joined = Buffer.allocUnsafeSlow(lengthOf(octets));
  writeOctets(joined, octets);
  return joined;
}
