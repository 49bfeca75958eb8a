/**
 * Identifiers: UUIDs of version 7 (RFC 9562 section 5.7). Their first 48 bits are the time, so that primary keys grow at the
 * right edge of their index, and the message log can be partitioned by id.
 */
import { randomFillSync } from "node:crypto";
import { v7 as uuidv7 } from "uuid";

declare const brand: unique symbol;

/** A branded type, so that a store function cannot be called with another id instead. */
export type WorkspaceId = string & { readonly [brand]: "workspace" };

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}

/** The nil UUID (RFC 9562 section 5.9), which is smaller than every id. */
export const nilId = "00000000-0000-0000-0000-000000000000";

/** The max UUID (RFC 9562 section 5.10), which is greater than every id. */
export const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The ids as 16 octets each. */
export function octetsOfIds(...ids: readonly string[]): Buffer {
  const octets = Buffer.from(ids.join("").replaceAll("-", ""), "hex");
  if (octets.length !== ids.length * UUID_OCTETS) throw new TypeError(`not UUIDs: ${ids.join(" ")}`);
  return octets;
}

/** The id whose octets begin at `start`. */
export function idAt(octets: Buffer, start: number): string {
  const hex = octets.toString("hex", start, start + UUID_OCTETS);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const UUID_OCTETS = 16;

/** A new id. The ids of one process sort in the order of their creation. */
export function newId(): string {
  const now = Date.now();
  const random = takeRandom();
  if (now > lastMs) {
    lastMs = now;
    count = random.readUInt32BE(6) >>> 1;
  } else if (count === MOST_IN_MS) {
    lastMs += 1;
    count = 0;
  } else count += 1;
  return uuidv7({ random, msecs: lastMs, seq: count });
}

/** The millisecond of the newest id, and a counter within it that starts at random (RFC 9562 section 6.2, method 1). */
let lastMs = 0;
let count = 0;
const MOST_IN_MS = 0xffff_ffff;

/** Random octets for one id, from a buffer: a system call for each would cost four times as much as the rest. */
function takeRandom(): Buffer {
  if (taken === supply.length) {
    randomFillSync(supply);
    taken = 0;
  }
  taken += 16;
  return supply.subarray(taken - 16, taken);
}

const supply = Buffer.alloc(4_096);
let taken = supply.length;

/**
 * Ids in bulk, for imports: a new id whose last 24 bits are a counter. They sort in the order of their creation, and cost a
 * tenth of the time of `newId`.
 */
export function newIdSeries(): () => string {
  const beginning = newId().slice(0, -6);
  let count = 0;
  return () => {
    if (count === SERIES_LENGTH) throw new Error("a series of ids is used up");
    return beginning + (SERIES_LENGTH + count++).toString(16).slice(1);
  };
}

const SERIES_LENGTH = 2 ** 24;

/** Converts an id from a row, or a checked argument of an operator, to a WorkspaceId. */
export function asWorkspaceId(id: string): WorkspaceId {
  return id as WorkspaceId;
}

/** The smallest version 7 id of a time, which is the lower bound of a partition. */
export function firstIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The creation time of a version 7 id, by the clock of the machine that created it. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
