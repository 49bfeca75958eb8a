/** What the contract says of files to import. */
import inspection from "schema:ImportFileInspection";
import schema from "schema:SubscriberImport";

const description = schema.properties.csvFile?.description ?? "";

/** "At most 50 MB and 1,000,000 rows." */
export const limitText = /At most [^.]*\./.exec(description)?.[0] ?? "";

const megabytes = Number(/(\d+) MB/.exec(limitText)?.[1]);

export const mostBytes = Number.isNaN(megabytes) ? Number.POSITIVE_INFINITY : megabytes * 1_048_576;

const inspectedKilobytes = Number(
  /At most (\d+) kB/.exec(inspection.properties.csvFile?.description ?? "")?.[1],
);

/** How much of a file the service looks at before it is sent. */
export const mostInspectedBytes = inspectedKilobytes * 1_024;

/** What is set where the person says nothing. */
export function defaultOf(name: string): boolean {
  return schema.properties[name]?.default === true;
}

export const labelLength = schema.properties.label?.maxLength ?? 0;

export const statuses = schema.properties.status?.enum ?? [];
