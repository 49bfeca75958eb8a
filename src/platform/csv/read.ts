/** Reads CSV files in any usual encoding, with any of four delimiters. */
import { ApiError } from "#platform/errors.ts";
import { type Delimiter, detectLayout } from "./delimiter.ts";
import { detectEncoding, sampleOf, withoutMarks } from "./detect-encoding.ts";
import { decoderOf, type Encoding } from "./encodings.ts";
import { readFileChunks } from "./file-chunks.ts";
import { type CsvRow, createRecordReader, type RowFault } from "./record-parser.ts";

export interface CsvFile {
  readonly encoding: Encoding;
  /** Neither the sender nor the file names the encoding. */
  readonly isGuessed: boolean;
  /** Sentences for the sender about how the file was read. */
  readonly warnings: readonly string[];
  readonly delimiter: Delimiter;
  /**
   * Reads the file from its start, without blank lines. @throws ApiError BAD_REQUEST if a row does not end, or has too
   * many cells
   */
  rows(): AsyncGenerator<CsvRow>;
  /** Like `rows`, in batches of some hundred, which is faster. */
  batches(): AsyncGenerator<CsvRow[]>;
  /** Whether a cell contains bytes that are invalid in the encoding; each is decoded as U+FFFD. */
  isBroken(cell: string): boolean;
}

/** The replacement for invalid bytes. */
const REPLACEMENT = "\ufffd";

export const BROKEN = "contains bytes that are invalid in the encoding of the file";

/** Characters of a row. Without a limit, a missing closing quote would make the rest of the file one row. */
const LONGEST_ROW = 1_000_000;
/** Cells of a row. */
const MOST_CELLS = 1_000;

/**
 * Detects encoding and delimiter of a file.
 * @param given the encoding that the sender names
 * @param isBeginning the rest of the file is missing: a row or a character that is cut off at its end is left out
 * @throws ApiError BAD_REQUEST if the file is empty or not text
 */
export async function openCsv(path: string, given?: Encoding, isBeginning = false): Promise<CsvFile> {
  const { encoding, isGuessed, mayBeBroken, warnings } = await detectEncoding(path, given, isBeginning);
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
    for await (const piece of readFileChunks(path)) {
      const text = decoder.decode(piece, { stream: true });
      yield withoutHint(reader.push(isFirst ? withoutMarks(text) : text));
      isFirst = false;
      if (reader.fault !== undefined) throw refusalOf(reader.fault);
      if (reader.openLength > LONGEST_ROW) throw tooLong(reader.openLine);
    }
    yield withoutHint(
      isBeginning ? reader.endWithoutLast() : [...reader.push(decoder.decode()), ...reader.end()],
    );
    if (reader.fault !== undefined) throw refusalOf(reader.fault);
    const isCut = isBeginning && reader.openLine !== 1;
    if (reader.openLine !== undefined && !isCut) throw neverEnds(reader.openLine);
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
    `The row on line ${line} does not end: a quotation mark in it, or after it, may never be closed`,
  );
}

/** Thrown when a row has more than MOST_CELLS cells. */
export class TooManyCells extends ApiError {
  constructor(line: number) {
    const most = MOST_CELLS.toLocaleString("en-GB");
    super(
      "BAD_REQUEST",
      `The row on line ${line} has more than ${most} cells: delete columns that are not needed, including empty ones after the table`,
    );
  }
}

function refusalOf({ kind, line }: RowFault): ApiError {
  if (kind === "too many cells") return new TooManyCells(line);
  return new ApiError(
    "BAD_REQUEST",
    `The row on line ${line} has text after a closing quotation mark: a quotation mark in it may never be closed. Write a quotation mark within a quoted text twice`,
  );
}
