/** Writes the people of a list as CSV files that an import takes, in parts of a few megabytes. */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { cellOfAddress } from "#audience/files/address-cell.ts";
import { csvLine } from "#platform/csv/write.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import type { SpooledPerson } from "./intake.ts";
import type { KnownField } from "./posthaste-api.ts";
import type { GivenValue } from "./source.ts";

/** An import takes 50 MB; a small one waits less, and is sent again in less time. */
const PART_OCTETS = 8 * 1024 * 1024;

const dates = new DateReader({ timeZone: "UTC" });

/** Notes a value that its custom field does not take. */
type OnRefused = (email: string, field: string, reason: string) => Promise<void>;

interface FieldColumn {
  readonly name: string;
  readonly isMultiple: boolean;
  readonly read: (value: unknown) => { readonly ok: true } | { readonly ok: false; readonly message: string };
}

/** @param fields those that the list has */
export async function* writePeopleFiles(
  folder: string,
  people: AsyncIterable<SpooledPerson>,
  fields: readonly KnownField[],
  onRefused: OnRefused,
): AsyncGenerator<{ readonly path: string; readonly rows: number }, void, undefined> {
  const columns = fields.map((field) => ({
    name: field.field_name,
    isMultiple: field.field_type === "multiselect",
    read: fieldReader(field, dates),
  }));
  const header = csvLine(["Email", "First", "Last", "Status", "Source", ...columns.map(({ name }) => name)]);
  const rest = people[Symbol.asyncIterator]();
  const path = join(folder, "people.csv");
  try {
    for (let isOver = false; !isOver; ) {
      let rows = 0;
      const lines = async function* () {
        yield header;
        for (let octets = 0; octets < PART_OCTETS; rows++) {
          const { value: person, done } = await rest.next();
          if (done === true) {
            isOver = true;
            return;
          }
          const line = await lineOf(person, columns, onRefused);
          octets += Buffer.byteLength(line);
          yield line;
        }
      };
      await pipeline(Readable.from(lines()), createWriteStream(path));
      if (rows > 0) yield { path, rows };
    }
  } finally {
    await rest.return?.();
    await rm(path, { force: true });
  }
}

async function lineOf(
  { email, first_name, last_name, status, source, values }: SpooledPerson,
  columns: readonly FieldColumn[],
  onRefused: OnRefused,
): Promise<string> {
  const given = new Map(values);
  const cells = [cellOfAddress(email), first_name, last_name, status, source];
  for (const { name, isMultiple, read } of columns) {
    const value = given.get(name);
    const cell = value === undefined ? "" : cellOf(value, isMultiple);
    const reading = cell === "" ? undefined : read(cell);
    if (reading?.ok === false) await onRefused(email, name, reading.message);
    cells.push(reading?.ok === false ? "" : cell);
  }
  return csvLine(cells);
}

function cellOf(value: GivenValue, isMultiple: boolean): string {
  if (typeof value !== "object") return String(value);
  return isMultiple ? JSON.stringify(value) : value.join(", ");
}
