/** The requests that the open page made, for "This page as API calls". */

export interface LoggedCall {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly status: number;
}

const MOST_CALLS = 30;

class CallLog {
  #page = "";
  #calls: LoggedCall[] = [];

  /** The calls of the page that is open, the first one first; a call that was made again is listed once. */
  get calls(): readonly LoggedCall[] {
    return this.#pageNow() ? this.#calls : [];
  }

  /** Sends a request and remembers it. */
  async record(request: Request, send: (request: Request) => Promise<Response>): Promise<Response> {
    const body = isText(request) ? await request.clone().text() : undefined;
    const response = await send(request);
    const { pathname, search } = new URL(request.url);
    this.#add({ method: request.method, path: pathname + search, body, status: response.status });
    return response;
  }

  #add(call: LoggedCall) {
    if (!this.#pageNow()) {
      this.#page = location.pathname;
      this.#calls = [];
    }
    const others = this.#calls.filter(
      ({ method, path, body }) => method !== call.method || path !== call.path || body !== call.body,
    );
    this.#calls = [...others, call].slice(-MOST_CALLS);
  }

  #pageNow(): boolean {
    return this.#page === location.pathname;
  }
}

function isText({ headers }: Request): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}

export const callLog = new CallLog();

/** Fields whose values are secret. */
const secret = /("[a-z_]*(?:password|code|token|secret)[a-z_]*"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** The same call by an API key, for a shell. */
export function curlOf({ method, path, body }: LoggedCall, origin: string): string {
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(origin + path)}`,
    `-H "X-API-Key: $KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(body.replace(secret, '$1"…"'))}`]),
  ];
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
