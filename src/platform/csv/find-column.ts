/** Finds columns of a CSV file by name, regardless of spelling. */

/** The letters and digits of a column's name: "E-Mail Address" and "email_address" are `emailaddress`. */
export function columnKey(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** The index of the first column whose `columnKey` is one of these. */
export function findColumn(header: readonly string[], keys: ReadonlySet<string>): number | undefined {
  const place = header.findIndex((name) => keys.has(columnKey(name)));
  return place < 0 ? undefined : place;
}
