/** What the contract says of files to import. */
import schema from "schema:SubscriberImport";

const description = schema.properties.csvFile?.description ?? "";

/** "At most 50 MB and 1,000,000 rows." */
export const limitText = /At most [^.]*\./.exec(description)?.[0] ?? "";

const megabytes = Number(/(\d+) MB/.exec(limitText)?.[1]);

export const mostBytes = Number.isNaN(megabytes) ? Number.POSITIVE_INFINITY : megabytes * 1_048_576;

/** What is set where the person says nothing. */
export function defaultOf(name: string): boolean {
  return schema.properties[name]?.default === true;
}

export const labelLength = schema.properties.label?.maxLength ?? 0;

export const statuses = schema.properties.status?.enum ?? [];
