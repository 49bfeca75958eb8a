/** Calls the HTTP API as a client does. */
import { requireDeclared } from "./declared-answers.ts";

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or the text if it is not JSON. Untyped: each test knows which shape it asked for. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface CallOptions {
  /** Another API key; null sends no key. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls `/api/v1<path>` with a JSON body. A string and a form are sent as they are. */
export type CallApi = (
  method: string,
  path: string,
  body?: unknown,
  options?: CallOptions,
) => Promise<ApiAnswer>;

/** @param url called for each request, because the port changes when the program restarts */
export function apiCaller(url: () => string, ownKey: string): CallApi {
  return async (method, path, body, { key = ownKey, headers = {} } = {}) => {
    const response = await fetch(`${url()}/api/v1${path}`, {
      method,
      headers: {
        ...(key !== null && { "X-API-Key": key }),
        ...(body !== undefined && !(body instanceof FormData) && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: encodeBody(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
    requireDeclared(method, path, answer.status, answer.body);
    return answer;
  };
}

function encodeBody(body: unknown): string | FormData {
  return typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body);
}

/** The sorted status codes of concurrent calls, for tests where the order does not matter. */
export function statusesOf(answers: readonly { readonly status: number }[]): number[] {
  return answers.map(({ status }) => status).toSorted((one, other) => one - other);
}
