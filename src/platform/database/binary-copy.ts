/** Rows of `copy … (format binary)`, to and from: head, rows, end (PostgreSQL's manual, COPY, "Binary Format"). */

/** The signature, no flags, no extension. */
export const BINARY_HEAD = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
export const BINARY_END = Buffer.from([0xff, 0xff]);

/** The pieces of a row. Each field in its type's binary form; a long one goes out from where it lies. */
export function binaryRow(fields: readonly Buffer[]): Buffer[] {
  const count = Buffer.allocUnsafe(2);
  count.writeInt16BE(fields.length);
  return [count, ...fields.flatMap((field) => [int4Octets(field.length), field])];
}

/** @param id in its usual form of 36 characters */
export function uuidOctets(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

export function int4Octets(value: number): Buffer {
  const octets = Buffer.allocUnsafe(4);
  octets.writeInt32BE(value);
  return octets;
}

/**
 * The octets of a query's one column, of which no value is null, in pieces as they come.
 * @throws an Error where they break off
 */
export async function* binaryValues(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  /** Head, or what stands before a value, as far as it has come. */
  let before = Buffer.alloc(0);
  let wanted = BINARY_HEAD.length;
  /** Octets of the value that are still to come. */
  let left = 0;
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      if (left > 0) {
        const piece = chunk.subarray(0, left);
        left -= piece.length;
        chunk = chunk.subarray(piece.length);
        yield piece;
        continue;
      }
      const missing = wanted - before.length;
      before = Buffer.concat([before, chunk.subarray(0, missing)]);
      chunk = chunk.subarray(missing);
      if (before.length < wanted) break;
      if (wanted === ROW_HEAD) left = before.readInt32BE(2);
      before = Buffer.alloc(0);
      wanted = ROW_HEAD;
    }
  }
  if (!before.equals(BINARY_END)) throw new Error("a copy breaks off before its end");
}

/** The number of fields, which is one, and the length of its value. */
const ROW_HEAD = 6;
