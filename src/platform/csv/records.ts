/**
 * Text to rows of cells (RFC 4180), for files of a million rows: a line without quotes, as nearly all are, is split at
 * its delimiters; only the others are read character by character. (csv-parse, which the tests take for an oracle, needs
 * five times as long, a fifth of the time of an import.)
 *
 * Where people and programs bend the rules, the rows stay as whole as can be: line ends may be CRLF, LF or CR, mixed;
 * blanks may stand round a quoted cell; a quote inside a cell that does not begin with one is a letter like any other; a
 * quote may be escaped by a backslash where it cannot be the closing one; and a cell that goes on behind its closing quote
 * is taken as it is. If it holds a delimiter or a line break, two stray quotes may have made one cell of several cells or
 * rows: then the reader stops with a fault.
 */

export interface CsvRow {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
  /** As they stand in the file, without the quotes round them. */
  readonly cells: readonly string[];
}

export interface RecordReader {
  /** The rows that are known to have ended in the text so far, blank lines left out; behind a long one they come later. */
  push(text: string): CsvRow[];
  /** What is left, with the row that the text ends in, if it ends in one. */
  end(): CsvRow[];
  /** Line on which the row begins that has not ended; undefined when it waits for nothing but more rows. */
  readonly openLine: number | undefined;
  /** Characters of that row that were looked at. */
  readonly openLength: number;
  /** Why no row is read behind the last one that was returned. */
  readonly fault: RowFault | undefined;
}

export interface RowFault {
  readonly kind: "text behind a closing quote" | "too many cells";
  /** Line on which the row begins. */
  readonly line: number;
}

/**
 * Reads the text from its beginning; `delimiter` is one character.
 * @param longest characters of a row beyond which the caller will not read on
 * @param mostCells cells of a row beyond which it is a fault
 */
export function createRecordReader(
  delimiter: string,
  longest: number,
  mostCells = Number.POSITIVE_INFINITY,
): RecordReader {
  /** The row that has not ended, and its line. */
  let rest = "";
  let line = 1;
  /** What has come since, and was not looked at. */
  let unread = "";
  let fault: RowFault | undefined;
  /** What a split has to return for a row with too many cells to be seen. */
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

  /** A row is gone through from its beginning each time: only when there is twice as much of it, not for every piece. */
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
  /** Where the next one begins. */
  readonly next: number;
  /** Line breaks, the one at its end included. */
  readonly breaks: number;
}

/** One row, however it is written; undefined when the text ends before it does, or what is wrong with it. */
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
    // The line feed behind a carriage return may come with the next piece of the text.
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
 * What stands between the quote at `opening` and the one that closes it; undefined without one. A quote behind a backslash
 * that no end of the cell follows is an escaped one, and so are those that come later in that cell.
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
    // Whether a quote at the very end is doubled cannot be told before there is more, or nothing more.
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
