/** Applies the mapping of a sender to the header of an import file. */
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { OptOutColumn } from "#audience/imports/opt-outs/find-columns.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { KnownNames } from "#platform/http/request/name-suggestions.ts";
import { type Column, type Columns, columnAt, restOf, statusColumn } from "./column-mapping.ts";
import { findPlaces } from "./find-places.ts";
import {
  CUSTOM_PREFIX,
  customFieldOf,
  type ImportMapping,
  isStateTarget,
  type PlainTarget,
  plainTargets,
  stateTargets,
} from "./mapping.ts";

/** Faults that one refusal names. */
const MOST_FAULTS = 8;
/** Fields that a message lists. */
const MOST_SHOWN = 50;

/**
 * @param header one cell for each column, blank in a file without a header
 * @param fields those in force on the list
 * @throws ApiError VALIDATION_ERROR that names the entries of the mapping: for an unknown or ambiguous column, an unknown
 * field, a column or a field that occurs twice, and a mapping without the address
 */
export function mapColumns(
  header: readonly string[],
  fields: readonly CustomField[],
  mapping: ImportMapping,
): Columns {
  const mapped = new MappedColumns(header, fields);
  const places = findPlaces(header, mapping);
  for (const [at, { field }] of mapping.entries()) {
    const place = places[at];
    if (place === undefined) continue;
    if (typeof place === "number") mapped.take(at, place, field);
    else mapped.faults.push(place);
    if (mapped.faults.length === MOST_FAULTS) break;
  }
  return mapped.columns();
}

/** The state of applying one mapping. */
class MappedColumns {
  readonly faults: FieldFault[] = [];
  readonly #header: readonly string[];
  readonly #fields: readonly CustomField[];
  /** For each column that the mapping names, the index of its entry. */
  readonly #entries = new Map<number, number>();
  /** For each field that one column gives, the index of its entry. */
  readonly #given = new Map<string, number>();
  readonly #plain = new Map<PlainTarget, Column>();
  readonly #custom: (Column & { readonly field: CustomField })[] = [];
  readonly #optOuts: OptOutColumn[] = [];
  readonly #ignored: Column[] = [];

  constructor(header: readonly string[], fields: readonly CustomField[]) {
    this.#header = header;
    this.#fields = fields;
  }

  take(at: number, place: number, field: string | null): void {
    const column = columnAt(this.#header, place);
    const before = this.#entries.get(place);
    if (before !== undefined) {
      this.#refuse(at, "column", `is the column "${column.header}", which mapping[${before}] names already`);
      return;
    }
    this.#entries.set(place, at);
    if (field === null) this.#ignored.push(column);
    else if (isStateTarget(field)) this.#optOuts.push({ ...column, meaning: stateTargets[field] });
    else this.#takeField(at, column, field);
  }

  #takeField(at: number, column: Column, name: string): void {
    const plain = plainTargets.find((one) => one === name);
    const custom = plain === undefined ? customFieldOf(name, this.#fields) : undefined;
    const target = plain ?? custom?.field_name;
    if (target === undefined) {
      this.#refuse(at, "field", unknown(name, this.#fields));
      return;
    }
    const key = plain ?? `${CUSTOM_PREFIX}${target}`;
    const before = this.#given.get(key);
    if (before !== undefined) {
      this.#refuse(at, "field", `is ${key}, which mapping[${before}] gives already: a field has one column`);
      return;
    }
    this.#given.set(key, at);
    if (plain !== undefined) this.#plain.set(plain, column);
    else if (custom !== undefined) this.#custom.push({ ...column, field: custom });
  }

  #refuse(at: number, part: "column" | "field", why: string): void {
    const field = `mapping[${at}].${part}`;
    this.faults.push({ field, message: `${field} ${why}` });
  }

  columns(): Columns {
    const email = this.#plain.get("email");
    const [first, ...more] = this.faults;
    if (first !== undefined) throw invalid(first, ...more);
    if (email === undefined) {
      const message = "mapping must name the column of the addresses, with the field email";
      throw invalid({ field: "mapping", message });
    }
    const isTaken = (place: number) => this.#entries.has(place);
    return {
      email,
      first_name: this.#plain.get("first_name"),
      last_name: this.#plain.get("last_name"),
      source: this.#plain.get("source"),
      status: statusColumn(this.#header, isTaken),
      // In the order of the fields, like columns that are found by their names.
      custom: this.#fields.flatMap((field) => this.#custom.find((one) => one.field === field) ?? []),
      optOuts: this.#optOuts,
      ignored: this.#ignored,
      ...restOf(this.#header, (place) => isTaken(place) && !this.#ignored.some((one) => one.place === place)),
      warnings: [],
    };
  }
}

function unknown(name: string, fields: readonly CustomField[]): string {
  const own = [...plainTargets, ...Object.keys(stateTargets)];
  const custom = fields.map(({ field_name }) => `${CUSTOM_PREFIX}${field_name}`);
  const isBare = fields.some(({ field_name }) => field_name === name);
  const near = isBare ? `${CUSTOM_PREFIX}${name}` : new KnownNames([...own, ...custom]).meantBy(name);
  if (near !== undefined) return `is not a field: did you mean ${near}?`;
  const shown = [...own, ...custom].slice(0, MOST_SHOWN).join(", ");
  return `is not a field of the list; it has ${shown}`;
}
