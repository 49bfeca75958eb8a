/**
 * Arrays in PostgreSQL's binary format (array_recv), for statements that take large batches: an array literal would be
 * escaped here, and parsed there, character by character. In the statement such an array needs a cast like any other.
 */

/** Type OIDs of the elements (pg_type); the same in every version. */
const OID = { bytea: 17, integer: 23, text: 25, timestamptz: 1184, uuid: 2950 };
/** Number of dimensions, flags, element type, length and lower bound of the one dimension: 32 bits each. */
const HEAD = 20;
const LENGTH = 4;
const NULL_LENGTH = -1;
const UUID_LENGTH = 16;
const TIMESTAMP_LENGTH = 8;
/** Timestamps are microseconds since this time. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** @param values texts, or their octets in UTF-8 */
export function textArray(values: readonly (string | Buffer | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  const octets = lengths.reduce((sum, length) => sum + Math.max(length, 0), 0);
  const array = begin(OID.text, values.length, octets);
  let at = HEAD;
  for (const [index, value] of values.entries()) {
    at = array.writeInt32BE(lengths[index] ?? NULL_LENGTH, at);
    if (value !== null) at += typeof value === "string" ? array.write(value, at) : value.copy(array, at);
  }
  return array;
}

export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  const octets = values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
  const array = begin(OID.bytea, values.length, octets);
  let at = HEAD;
  for (const value of values) {
    at = array.writeInt32BE(value?.length ?? NULL_LENGTH, at);
    at += value?.copy(array, at) ?? 0;
  }
  return array;
}

/** @param values UUIDs in the usual form of 36 characters @throws Error if one is not a UUID */
export function uuidArray(values: readonly (string | null)[]): Buffer {
  const array = begin(OID.uuid, values.length, values.length * UUID_LENGTH);
  let at = HEAD;
  let last: string | null = null;
  let lastAt = HEAD;
  for (const value of values) {
    at = array.writeInt32BE(value === null ? NULL_LENGTH : UUID_LENGTH, at);
    if (value === null) continue;
    if (value === last) {
      // Fast path: most batches repeat the id of one workspace.
      at += array.copy(array, at, lastAt, lastAt + UUID_LENGTH);
      continue;
    }
    const digits = value.replaceAll("-", "");
    const written = digits.length === 2 * UUID_LENGTH ? array.write(digits, at, "hex") : 0;
    if (written !== UUID_LENGTH) throw new Error(`"${value}" is not a UUID`);
    last = value;
    lastAt = at;
    at += written;
  }
  return array.subarray(0, at);
}

export function integerArray(values: readonly number[]): Buffer {
  const array = begin(OID.integer, values.length, values.length * LENGTH);
  let at = HEAD;
  for (const value of values) at = array.writeInt32BE(value, array.writeInt32BE(LENGTH, at));
  return array;
}

export function timestamptzArray(values: readonly Date[]): Buffer {
  const array = begin(OID.timestamptz, values.length, values.length * TIMESTAMP_LENGTH);
  let at = HEAD;
  for (const value of values) {
    const microseconds = BigInt(value.getTime() - EPOCH_MS) * 1000n;
    at = array.writeBigInt64BE(microseconds, array.writeInt32BE(TIMESTAMP_LENGTH, at));
  }
  return array;
}

/** An array with its head; the caller writes the elements, each as its length and its octets. */
function begin(type: number, length: number, octets: number): Buffer {
  const array = Buffer.allocUnsafe(HEAD + length * LENGTH + octets);
  // The flags (0: no nulls) need not match the elements; PostgreSQL checks only that they are 0 or 1.
  for (const [index, value] of [1, 0, type, length, 1].entries()) array.writeInt32BE(value, index * 4);
  return array;
}
