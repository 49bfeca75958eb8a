import { addressInCell } from "#audience/files/address-cell.ts";
import { isAddressName } from "#audience/files/known-column-names.ts";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import { shownText } from "#hygiene/validations/validation.ts";
import { type AddressSyntax, readSyntax } from "#mail/address-syntax.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import { findColumn } from "#platform/csv/find-column.ts";
import { BROKEN, openCsv } from "#platform/csv/read.ts";
import { ApiError } from "#platform/errors.ts";

export const MOST_ADDRESSES = 100_000;

export interface FileAddress {
  /** The line in the file, from 1. */
  readonly line: number;
  /** As written in the file. */
  readonly text: string;
  readonly syntax: AddressSyntax;
}

export interface AddressFile {
  /** In the order of the file, without duplicates. */
  readonly addresses: readonly FileAddress[];
  readonly duplicates: number;
  /** How the file was read, where that may surprise the uploader. */
  readonly warnings: readonly string[];
}

/** Names of the address column, as columnKey gives them. */
const names = new Set([
  "email",
  "emails",
  "emailaddress",
  "emailaddresses",
  "mail",
  "mailaddress",
  "address",
  "addresses",
  "subscriberemail",
  "contactemail",
]);

/**
 * Reads the addresses of a file: the column named email of a CSV file or else its first column, or one address a line.
 * @throws ApiError BAD_REQUEST for a file that is not text, or has no addresses or too many
 */
export async function readAddressFile(path: string, encoding?: Encoding): Promise<AddressFile> {
  const file = await openCsv(path, encoding);
  const addresses: FileAddress[] = [];
  const seen = new Set<string>();
  let duplicates = 0;
  let column: number | undefined;
  for await (const rows of file.batches()) {
    for (const { line, cells } of rows) {
      if (column === undefined) {
        const named = findColumn(cells, names) ?? cells.findIndex((cell) => isAddressName(cell));
        column = Math.max(0, named);
        if (named >= 0) continue;
      }
      const text = addressInCell(cells[column] ?? "");
      if (text === "") continue;
      const syntax = file.isBroken(text) ? broken : readSyntax(text);
      const key = syntax.ok
        ? addressOf({ localpart: syntax.local, domain: syntax.domain })
        : text.toLowerCase();
      if (seen.has(key)) {
        duplicates++;
        continue;
      }
      seen.add(key);
      addresses.push({ line, text: shownText(text), syntax });
      if (addresses.length > MOST_ADDRESSES) throw tooMany();
    }
  }
  if (addresses.length === 0) throw new ApiError("BAD_REQUEST", "The file contains no address");
  return { addresses, duplicates, warnings: file.warnings };
}

const broken: AddressSyntax = { ok: false, message: BROKEN };

function tooMany(): ApiError {
  const most = MOST_ADDRESSES.toLocaleString("en-GB");
  return new ApiError("BAD_REQUEST", `The file has more than ${most} addresses: split it`);
}
