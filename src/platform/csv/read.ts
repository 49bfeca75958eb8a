/** CSV files as people have them: in any usual encoding, with any of four delimiters. */
import { ApiError } from "#platform/errors.ts";
import { type Delimiter, detectLayout } from "./delimiter.ts";
import { detectEncoding, sampleOf, withoutMarks } from "./encoding.ts";
import { decoderOf, type Encoding } from "./encodings.ts";
import { readPieces } from "./pieces.ts";
import { type CsvRow, createRecordReader, type RowFault } from "./records.ts";

export interface CsvFile {
  readonly encoding: Encoding;
  /** Neither the sender nor the file says the encoding. */
  readonly isGuessed: boolean;
  /** What the sender should know about how the file was read. */
  readonly warnings: readonly string[];
  readonly delimiter: Delimiter;
  /** Reads the file from its beginning; blank lines are no rows. @throws ApiError BAD_REQUEST where it breaks off, or a row has too many cells */
  rows(): AsyncGenerator<CsvRow>;
  /** The same some hundred rows at a time, which is quicker. */
  batches(): AsyncGenerator<CsvRow[]>;
  /** Whether a cell holds bytes that are none of the encoding; each is U+FFFD then. */
  isBroken(cell: string): boolean;
}

/** What a decoder puts in the place of bytes that are none of the encoding. */
const REPLACEMENT = "\ufffd";

export const BROKEN = "holds bytes that are not in the encoding of the file";

/** Characters of a row. A quote that is never closed would otherwise make one row of the rest of the file. */
const LONGEST_ROW = 1_000_000;
/** Cells of a row: columns of a table. */
const MOST_CELLS = 1_000;

/** Looks how the file is written; `given` is the encoding that its sender names. @throws ApiError BAD_REQUEST for one that is empty or no text */
export async function openCsv(path: string, given?: Encoding): Promise<CsvFile> {
  const { encoding, isGuessed, mayBeBroken, warnings } = await detectEncoding(path, given);
  const sample = await sampleOf(path, encoding);
  if (sample.trim() === "") throw new ApiError("BAD_REQUEST", "The file is empty");
  const { delimiter, hasHint } = detectLayout(sample);

  async function* batches() {
    const reader = createRecordReader(delimiter, LONGEST_ROW, MOST_CELLS);
    const decoder = decoderOf(encoding);
    let hint = hasHint;
    const withoutHint = (rows: CsvRow[]) => {
      if (hint && rows.length > 0) {
        hint = false;
        return rows.slice(1);
      }
      return rows;
    };
    let isFirst = true;
    for await (const piece of readPieces(path)) {
      const text = decoder.decode(piece, { stream: true });
      yield withoutHint(reader.push(isFirst ? withoutMarks(text) : text));
      isFirst = false;
      if (reader.fault !== undefined) throw refusalOf(reader.fault);
      if (reader.openLength > LONGEST_ROW) throw tooLong(reader.openLine);
    }
    yield withoutHint([...reader.push(decoder.decode()), ...reader.end()]);
    if (reader.fault !== undefined) throw refusalOf(reader.fault);
    if (reader.openLine !== undefined) throw neverEnds(reader.openLine);
  }

  return {
    encoding,
    isGuessed,
    warnings,
    delimiter,
    batches,
    isBroken: (cell) => mayBeBroken && cell.includes(REPLACEMENT),
    async *rows() {
      for await (const batch of batches()) yield* batch;
    },
  };
}

function tooLong(line: number | undefined): ApiError {
  return new ApiError(
    "BAD_REQUEST",
    `The row on line ${line} has more than ${LONGEST_ROW.toLocaleString("en-GB")} characters: a quotation mark in it may never be closed`,
  );
}

function neverEnds(line: number | undefined): ApiError {
  return new ApiError(
    "BAD_REQUEST",
    `The row on line ${line} does not end: a quotation mark in it, or behind it, may never be closed`,
  );
}

/** A row has more cells than a table may have columns. */
export class TooManyCells extends ApiError {
  constructor(line: number) {
    const most = MOST_CELLS.toLocaleString("en-GB");
    super(
      "BAD_REQUEST",
      `The row on line ${line} has more than ${most} cells: delete the columns that are not needed, also empty ones behind the table`,
    );
  }
}

function refusalOf({ kind, line }: RowFault): ApiError {
  if (kind === "too many cells") return new TooManyCells(line);
  return new ApiError(
    "BAD_REQUEST",
    `The row on line ${line} has a text behind a closing quotation mark: a quotation mark in it may never be closed. One that belongs to a text is written twice, within quotation marks`,
  );
}
