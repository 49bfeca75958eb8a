/** Calls the demo's service: the API with a key, and public pages without one. */
import { setTimeout as delay } from "node:timers/promises";

/** The data of an answer, of any shape. */
type Data = ReturnType<typeof JSON.parse>;

export interface DemoApi {
  readonly url: string;
  readonly key: string;
  /** Opens the local inbox. */
  readonly inboxToken: string;
  /** Gives the answer's data. @throws an Error with the service's message when the service refuses the call */
  readonly ask: (method: string, path: string, body?: object) => Promise<Data>;
  /** All rows of a list that comes in pages. */
  readonly askAll: (path: string, rows: string) => Promise<Data[]>;
}

const MOST_ROWS = 200;
const LOOK_MS = 100;
const PATIENCE_MS = 60_000;

export function demoApi(url: string, key: string, inboxToken: string): DemoApi {
  const ask: DemoApi["ask"] = async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { "X-API-Key": key, ...(body && !isForm && { "Content-Type": "application/json" }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Data;
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return {
    url,
    key,
    inboxToken,
    ask,
    async askAll(path, rows) {
      const all: Data[] = [];
      for (let page = 1; ; page += 1) {
        const data = await ask("GET", `${path}?limit=${MOST_ROWS}&page=${page}`);
        all.push(...data[rows]);
        if (data[rows].length < MOST_ROWS) return all;
      }
    },
  };
}

/** Calls `look` until it returns a value. @throws an Error that names `what` after a minute */
export async function until<Found>(what: string, look: () => Promise<Found | false>): Promise<Found> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(LOOK_MS)) {
    const found = await look();
    if (found !== false) return found;
  }
  throw new Error(`timed out after a minute waiting for ${what}`);
}
