/**
 * Examples of the API reference, which test/openapi-examples.test.ts records, and request samples made from them: curl commands
 * that can be pasted into a shell.
 */
import type { Endpoint } from "./endpoint.ts";

/** One request and its answer, with ids, secrets and times that are the same in every run. */
export interface RecordedExample {
  /** The ids of the path, in their order. */
  readonly ids: readonly string[];
  /** A JSON body, or the fields of a form. */
  readonly body?: object;
  /** The whole answer: an envelope, or the text of a file. Absent for a stream of events. */
  readonly answer?: unknown;
}

/** By operation id. */
export type RecordedExamples = Readonly<Record<string, RecordedExample>>;

/** Stands for the installation and the key of the reader; set both in the shell. */
export const SAMPLE_HOST = "https://mail.example.com";
const KEY_HEADER = `-H "X-API-Key: $POSTHASTE_API_KEY"`;

/**
 * The command that sends the example. File forms send a file of the reader.
 * @param url of the operation, with the ids of the example
 */
export function curlSample(
  { method, needs }: Endpoint,
  url: string,
  { body }: RecordedExample,
  file?: string,
): string {
  const isForm = file !== undefined;
  const command = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(url)}`,
    needs !== "public" && KEY_HEADER,
    body !== undefined && !isForm && `-H "Content-Type: application/json"`,
    body !== undefined && !isForm && `-d ${quoted(JSON.stringify(body, null, 2))}`,
    ...Object.entries(isForm ? (body ?? {}) : {}).map(([name, value]) =>
      name === file ? `-F "${name}=@people.csv;type=text/csv"` : `-F ${quoted(`${name}=${String(value)}`)}`,
    ),
  ];
  return command.filter((part) => part !== false).join(" \\\n  ");
}

/** In single quotes, as a POSIX shell reads it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
