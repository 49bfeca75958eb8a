/** A first look at a file in the browser: its encoding, its delimiter and its first rows, without sending it. */
import Papa from "papaparse";

const LOOK_BYTES = 200_000;
const MOST_ROWS = 40;
const LINE_FEED = 10;

export interface FileLook {
  readonly file: File;
  /** The beginning of the file, up to the end of a line. */
  readonly beginning: Blob;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly encoding: string;
}

export async function lookAt(file: File): Promise<FileLook> {
  const bytes = new Uint8Array(await file.slice(0, LOOK_BYTES).arrayBuffer());
  const encoding = encodingOf(bytes);
  const end = bytes.length < file.size ? endOfLine(bytes, encoding) : bytes.length;
  return { file, beginning: file.slice(0, end), bytes: bytes.slice(0, end), encoding };
}

/** By its first bytes, by the zeros of UTF-16, or UTF-8 if it can be read so; anything else is the service's to guess. */
function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const zeros = [0, 0];
  for (const [index, byte] of bytes.subarray(0, 1_000).entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  }
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) > Math.min(bytes.length, 1_000) / 8) return odd > even ? "utf-16le" : "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

/** The place after the last line feed; in UTF-16 it has two bytes. */
function endOfLine(bytes: Uint8Array, encoding: string): number {
  const last = bytes.lastIndexOf(LINE_FEED);
  if (last < 0) return bytes.length;
  if (encoding === "utf-16le") return last + 2;
  return last + 1;
}

export interface FirstRows {
  readonly delimiter: string;
  readonly rows: readonly (readonly string[])[];
}

/** @param delimiter as the service found it; undefined before */
export function firstRows(
  { bytes, encoding }: FileLook,
  found?: { encoding: string; delimiter: string },
): FirstRows {
  const text = decoded(bytes, found?.encoding ?? encoding).replace(/^sep=.\r?\n/i, "");
  const { data, meta } = Papa.parse<string[]>(text, {
    preview: MOST_ROWS,
    ...(found && { delimiter: found.delimiter }),
  });
  return { delimiter: meta.delimiter, rows: data };
}

function decoded(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    // The service reads more encodings than browsers, such as the code pages of DOS.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

const delimiters: Readonly<Record<string, string>> = {
  ",": "commas",
  ";": "semicolons",
  "\t": "tabs",
  "|": "bars",
};

export function delimiterWords(delimiter: string): string {
  return delimiters[delimiter] ?? `“${delimiter}”`;
}

/** Sizes as files have them: 1 MB is 1,048,576 bytes here, as for the limit of the API. */
export function sizeText(bytes: number): string {
  const [size, unit] = bytes < 1_048_576 ? [bytes / 1_024, "kB"] : [bytes / 1_048_576, "MB"];
  return `${new Intl.NumberFormat("en", { maximumFractionDigits: size < 10 ? 1 : 0 }).format(size)} ${unit}`;
}
