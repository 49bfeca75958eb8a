/** What the contract says of files to import. */
import inspection from "schema:ImportFileInspection";
import schema from "schema:SubscriberImport";

const description = schema.properties.csvFile?.description ?? "";

/** "At most 50 MB and 1,000,000 rows." */
export const limitText = /At most [^.]*\./.exec(description)?.[0] ?? "";

export const mostBytes = numberIn(/(\d+) MB/, limitText) * 1_048_576;

/** How much of a file the service looks at before it is sent. */
export const mostInspectedBytes =
  numberIn(/At most (\d+) kB/, inspection.properties.csvFile?.description ?? "") * 1_024;

/** @throws when the contract says it in other words, so that no file is sent without a limit */
function numberIn(pattern: RegExp, text: string): number {
  const number = Number(pattern.exec(text)?.[1]);
  if (!Number.isInteger(number)) throw new Error(`openapi.json says no limit ${pattern.source} in “${text}”`);
  return number;
}

/** What is set where the person says nothing. */
export function defaultOf(name: string): boolean {
  return schema.properties[name]?.default === true;
}

export const labelLength = schema.properties.label?.maxLength ?? 0;

export const statuses = schema.properties.status?.enum ?? [];
