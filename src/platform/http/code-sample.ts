/**
 * Examples of the API reference, which test/openapi-examples.test.ts records, and request samples made from them: curl commands
 * that can be pasted into a shell.
 */
import { shellQuoted } from "#platform/shell-quoted.ts";
import type { Endpoint } from "./endpoint.ts";
import { eventsOfStream } from "./response/event-stream.ts";

/** One request and its answer, with ids, secrets and times that are the same in every run. */
export interface RecordedExample {
  /** The ids of the path, in their order. */
  readonly ids: readonly string[];
  /** The query, with its question mark; absent for operations that need none. */
  readonly query?: string;
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
/** The file of the reader's cookies. Signing in, and changes of the account, answer another cookie. */
const COOKIES = "-b cookies -c cookies";
/** What browsers send with a change. */
const SAME_ORIGIN = `-H "Sec-Fetch-Site: same-origin"`;

/** What shows the caller of an operation, as options of curl. */
function authenticationOf({ method, needs }: Endpoint): string[] {
  if (needs === "public") return method === "GET" ? [] : [COOKIES];
  if (needs !== "signed in" && needs !== "operator") return [KEY_HEADER];
  return method === "GET" ? [COOKIES] : [COOKIES, SAME_ORIGIN];
}

/**
 * The command that sends the example. File forms send a file of the reader.
 * @param url of the operation, with the ids and the query of the example
 */
export function curlSample(
  endpoint: Endpoint,
  url: string,
  { body }: RecordedExample,
  file?: string,
): string {
  const { method } = endpoint;
  const isForm = file !== undefined;
  const isStream = eventsOfStream(endpoint.answer) !== undefined;
  const command = [
    `curl${isStream ? " -N" : ""}${method === "GET" ? "" : ` -X ${method}`} ${shellQuoted(url)}`,
    ...authenticationOf(endpoint),
    body !== undefined && !isForm && `-H "Content-Type: application/json"`,
    body !== undefined && !isForm && `-d ${shellQuoted(JSON.stringify(body, null, 2))}`,
    ...Object.entries(isForm ? (body ?? {}) : {}).map(([name, value]) =>
      name === file
        ? `-F "${name}=@people.csv;type=text/csv"`
        : `-F ${shellQuoted(`${name}=${String(value)}`)}`,
    ),
  ];
  return command.filter((part) => part !== false).join(" \\\n  ");
}
