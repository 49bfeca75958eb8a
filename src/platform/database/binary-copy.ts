/** Writes and reads rows of `copy … (format binary)`: header, rows, trailer (PostgreSQL manual, COPY, "Binary Format"). */

/** The signature, without flags and extension. */
export const BINARY_HEAD = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
export const BINARY_END = Buffer.from([0xff, 0xff]);

/** A row as a list of buffers. @param fields in the binary format of their types; they are not copied */
export function binaryRow(fields: readonly Buffer[]): Buffer[] {
  const count = Buffer.allocUnsafe(2);
  count.writeInt16BE(fields.length);
  return [count, ...fields.flatMap((field) => [int4Octets(field.length), field])];
}

/** @param id a UUID in the usual form of 36 characters */
export function uuidOctets(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

export function int4Octets(value: number): Buffer {
  const octets = Buffer.allocUnsafe(4);
  octets.writeInt32BE(value);
  return octets;
}

/**
 * The octets of the values of a query with one column without nulls, in chunks as they arrive.
 * @throws Error if the data ends early
 */
export async function* binaryValues(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  /** The received part of the header, or of the head of a row. */
  let before = Buffer.alloc(0);
  let wanted = BINARY_HEAD.length;
  /** Octets of the current value that have not arrived. */
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
  if (!before.equals(BINARY_END)) throw new Error("the COPY data ended before its trailer");
}

/** Octets of the number of fields (one) and of the length of its value. */
const ROW_HEAD = 6;
