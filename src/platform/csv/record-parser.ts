/**
 * Parses CSV text into rows of cells (RFC 4180), fast enough for files of a million rows: lines without quotes, which are
 * nearly all, are split at their delimiters; only the others are read character by character. (csv-parse, the oracle of the
 * tests, takes five times as long, a fifth of the time of an import.)
 *
 * Deviations that are accepted: line ends may be CRLF, LF or CR, mixed; spaces may surround a quoted cell; a quote inside an
 * unquoted cell is an ordinary character; a quote may be escaped by a backslash where it cannot be the closing one; and a
 * quoted cell with text after its closing quote is taken literally. If such a cell contains a delimiter or a line break, two
 * stray quotes may have joined several cells or rows, so the reader stops with a fault.
 */

export interface CsvRow {
  /** Line of the file on which the row starts, from 1. */
  readonly line: number;
  /** The text of the cells, without enclosing quotes. */
  readonly cells: readonly string[];
}

export interface RecordReader {
  /** The rows that are complete so far, without blank lines. After a long row they may be returned by a later call. */
  push(text: string): CsvRow[];
  /** The remaining rows, including a last one without a line end. */
  end(): CsvRow[];
  /** The remaining rows that are complete, of a text whose end is missing. */
  endWithoutLast(): CsvRow[];
  /** Line on which the incomplete row starts; undefined if there is none. */
  readonly openLine: number | undefined;
  /** Characters of the incomplete row that were examined. */
  readonly openLength: number;
  /** Why no further row can be read. */
  readonly fault: RowFault | undefined;
}

export interface RowFault {
  readonly kind: "text behind a closing quote" | "too many cells";
  /** Line on which the row starts. */
  readonly line: number;
}

/**
 * @param delimiter one character
 * @param longest characters of a row above which the caller stops reading
 * @param mostCells cells of a row above which it is a fault
 */
export function createRecordReader(
  delimiter: string,
  longest: number,
  mostCells = Number.POSITIVE_INFINITY,
): RecordReader {
  /** The incomplete row, and its line. */
  let rest = "";
  let line = 1;
  /** Text that was pushed since and not examined. */
  let unread = "";
  let fault: RowFault | undefined;
  /** Limit for `split`: one more cell than allowed, so that too many are noticed. */
  const mostSplit = Math.min(mostCells + 1, 2 ** 32 - 1);

  const read = (text: string, isLast: boolean): CsvRow[] => {
    const rows: CsvRow[] = [];
    let at = 0;
    let quote = -2;
    let carriage = -2;
    while (at < text.length && fault === undefined) {
      if (quote < at && quote !== -1) quote = text.indexOf('"', at);
      if (carriage < at && carriage !== -1) carriage = text.indexOf("\r", at);
      const end = text.indexOf("\n", at);
      const isPlain = end >= 0 && (quote < 0 || quote > end) && (carriage < 0 || carriage >= end - 1);
      if (isPlain) {
        const stop = carriage === end - 1 && carriage >= at ? carriage : end;
        const cells = stop > at ? text.slice(at, stop).split(delimiter, mostSplit) : [];
        if (cells.length > mostCells) fault = { kind: "too many cells", line };
        else if (stop > at) rows.push({ line, cells });
        line++;
        at = end + 1;
        continue;
      }
      const record = readRecord(text, at, delimiter, mostCells, isLast);
      if (record === undefined) break;
      if (typeof record === "string") {
        fault = { kind: record, line };
        break;
      }
      if (record.cells.length > 1 || record.cells[0] !== "") rows.push({ line, cells: record.cells });
      line += record.breaks;
      at = record.next;
    }
    rest = text.slice(at);
    return rows;
  };

  /** An incomplete row is parsed from its start each time, so wait until its text has doubled. */
  const isWorthReading = () => unread.length >= rest.length || rest.length + unread.length > longest;
  const readOn = (isLast: boolean) => {
    const text = rest + unread;
    unread = "";
    return read(text, isLast);
  };

  return {
    push(text) {
      unread += text;
      return isWorthReading() ? readOn(false) : [];
    },
    end: () => readOn(true),
    endWithoutLast: () => readOn(false),
    get openLine() {
      return rest === "" ? undefined : line;
    },
    get openLength() {
      return rest.length;
    },
    get fault() {
      return fault;
    },
  };
}

interface Record {
  readonly cells: string[];
  /** Index at which the next row starts. */
  readonly next: number;
  /** Number of line breaks, including the one at its end. */
  readonly breaks: number;
}

/** Reads one row character by character. @returns undefined if it is incomplete, or the kind of fault */
function readRecord(
  text: string,
  from: number,
  delimiter: string,
  mostCells: number,
  isLast: boolean,
): Record | RowFault["kind"] | undefined {
  const cells: string[] = [];
  let breaks = 0;
  let at = from;
  for (;;) {
    const opening = skipBlanks(text, at, delimiter);
    let cell = "";
    if (text[opening] === '"') {
      const quoted = readQuoted(text, opening, delimiter);
      if (quoted === undefined) return undefined;
      breaks += countBreaks(quoted.content);
      const behind = skipBlanks(text, quoted.next, delimiter);
      if (isCellEnd(text, behind, delimiter)) {
        cell = quoted.content;
        at = behind;
      } else {
        if (quoted.content.includes(delimiter) || /[\r\n]/.test(quoted.content))
          return "text behind a closing quote";
        cell = `"${quoted.content}"`;
        at = quoted.next;
      }
    }
    const start = at;
    while (!isCellEnd(text, at, delimiter)) at++;
    cells.push(cell + text.slice(start, at));
    if (cells.length > mostCells) return "too many cells";
    if (at >= text.length) return isLast ? { cells, next: at, breaks } : undefined;
    if (text[at] === delimiter) {
      at++;
      continue;
    }
    // The line feed after this carriage return may be in the next chunk.
    if (text[at] === "\r" && at + 1 === text.length && !isLast) return undefined;
    const next = at + (text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1);
    return { cells, next, breaks: breaks + 1 };
  }
}

function isCellEnd(text: string, at: number, delimiter: string): boolean {
  const character = text[at];
  return character === undefined || character === delimiter || character === "\n" || character === "\r";
}

function skipBlanks(text: string, from: number, delimiter: string): number {
  let at = from;
  while ((text[at] === " " || text[at] === "\t") && text[at] !== delimiter) at++;
  return at;
}

/**
 * The text between the quote at `opening` and its closing quote; undefined if that is missing. A quote after a backslash is
 * escaped if the cell does not end after it; from then on, all quotes after a backslash in this cell are.
 */
function readQuoted(
  text: string,
  opening: number,
  delimiter: string,
): { content: string; next: number } | undefined {
  let content = "";
  let at = opening + 1;
  let hasEscapes = false;
  for (;;) {
    const quote = text.indexOf('"', at);
    // A quote at the end of the text may turn out to be doubled; the caller reads the row again with more text.
    if (quote < 0) return undefined;
    content += text.slice(at, quote);
    const isDoubled = text[quote + 1] === '"';
    const mayBeEscaped = quote > at && text[quote - 1] === "\\";
    hasEscapes ||=
      mayBeEscaped && !isDoubled && !isCellEnd(text, skipBlanks(text, quote + 1, delimiter), delimiter);
    if (hasEscapes && mayBeEscaped) {
      content = `${content.slice(0, -1)}"`;
      at = quote + 1;
      continue;
    }
    if (!isDoubled) return { content, next: quote + 1 };
    content += '"';
    at = quote + 2;
  }
}

function countBreaks(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
