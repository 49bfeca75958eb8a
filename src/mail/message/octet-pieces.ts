/** Octets in pieces that are joined once: content that many messages share is encoded once and only copied. */

/** A string has one octet a character (latin1), which for ASCII is the text itself. */
export type Octets = readonly (Buffer | string | Octets)[];

/** The total number of octets. */
export function lengthOf(octets: Octets): number {
  let length = 0;
  for (const piece of octets) {
    length += typeof piece === "string" || Buffer.isBuffer(piece) ? piece.length : lengthOf(piece);
  }
  return length;
}

/** Copies the octets into a buffer from `at` on; returns the offset after them. */
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

/** All octets in one buffer; a single buffer is returned without a copy. */
export function joinOctets(octets: Octets): Buffer {
  const [only] = octets;
  if (octets.length === 1 && Buffer.isBuffer(only)) return only;
  // The buffer is not taken from the Buffer pool: a message is used longer than other buffers there and would keep the
  // whole pool in memory.
  const joined = Buffer.allocUnsafeSlow(lengthOf(octets));
  writeOctets(joined, octets);
  return joined;
}
