/** A file in words: its size and what separates its cells. */

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
