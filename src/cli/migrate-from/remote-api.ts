/**
 * Calls an HTTP API with a deadline for each try. A try that found no answer, too many requests (429) or a fault of the
 * server (5xx) is repeated, after the time of Retry-After where there is one (RFC 9110, 10.2.3).
 */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { fetchFault, readResponseText } from "#platform/network/read-response.ts";
import { OctetBudget } from "./octet-budget.ts";

export interface Remote {
  /** The name of the product, for sentences. */
  readonly name: string;
  readonly base: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The environment variable of the secret. */
  readonly secretName: string;
}

type Query = Readonly<Record<string, string | number>>;

export interface Sent {
  readonly query?: Query;
  /** An object is sent as JSON. */
  readonly body?: object;
  /** Whether a second try does no harm after a first one that may have been carried out. Default: of GET only. */
  readonly isRepeatable?: boolean;
}

const DEADLINE_MS = 120_000;
/** A file may be large; this is for all of it. */
const DOWNLOAD_MS = 3_600_000;
const LONGEST_ANSWER = 64 * 1024 * 1024;
const LONGEST_REASON = 500;
const MOST_TRIES = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** Mailchimp and SendGrid name waits of up to a minute. */
const LONGEST_RETRY_AFTER_MS = 10 * 60_000;

/** A fault of the network, in the request or in the body of its answer: another try may do better. Its cause is the fault. */
class BrokenConnection extends Error {}

/** An answer that says why the call failed. */
export class RefusedCall extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Whether the key is wrong or lacks a permission, so that other calls fail as well. */
  get isAboutKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

export class RemoteApi {
  readonly #remote: Remote;
  /** An address that never answered is probably wrong: then no further try is made. */
  #hasAnswered = false;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  /** @throws RefusedCall; Error without an answer, or for an answer of another shape */
  async get<Shape extends TSchema>(path: string, shape: Shape, query: Query = {}): Promise<Static<Shape>> {
    return this.#checked(path, shape, await this.send("GET", path, { query }));
  }

  async post<Shape extends TSchema>(path: string, shape: Shape, sent: Sent): Promise<Static<Shape>> {
    return this.#checked(path, shape, await this.send("POST", path, sent));
  }

  /** @returns the parsed body */
  async send(method: string, path: string, { query = {}, body, isRepeatable }: Sent): Promise<unknown> {
    const { base, headers } = this.#remote;
    const url = new URL(`${base.href.replace(/\/$/, "")}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const isJson = body !== undefined && !(body instanceof FormData);
    const init: RequestInit = {
      method,
      headers: {
        Accept: "application/json",
        "User-Agent": "posthaste migrate-from",
        ...headers,
        ...(isJson && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as FormData) }),
    };
    return this.#tried(url, init, DEADLINE_MS, isRepeatable ?? method === "GET", async (response) => {
      const text = await this.#textOf(response, url);
      if (response.ok) return this.#parsed(text, url);
      throw this.#refusal(response.status, text, url);
    });
  }

  /**
   * Writes a file of the API to a path.
   * @param url on the API, with its secret, or on a host of files whose address is the secret
   */
  async download(url: URL, path: string): Promise<void> {
    const headers = url.origin === this.#remote.base.origin ? this.#remote.headers : {};
    await this.#tried(url, { headers }, DOWNLOAD_MS, true, async (response) => {
      if (!response.ok || response.body === null) {
        throw this.#refusal(response.status, await this.#textOf(response, url), url);
      }
      const body = chunksOf(response.body);
      const budget = new OctetBudget(`${this.#remote.name} answered ${url.pathname} with`);
      await pipeline(body, (source) => budget.pass(source), createWriteStream(path));
    });
  }

  /** Reads the answer of the first try that is neither "later" nor a fault of the server, or that of the last try. */
  async #tried<Result>(
    url: URL,
    init: RequestInit,
    ms: number,
    isRepeatable: boolean,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries++) {
      const isLast = tries === MOST_TRIES;
      const patience = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
      try {
        // A redirect could take the secret to another host.
        const request = { ...init, redirect: "manual", signal: AbortSignal.timeout(ms) } as const;
        const response = await overConnection(fetch(url, request));
        this.#hasAnswered = true;
        const isLater = response.status === 429 || (isRepeatable && response.status >= 500);
        if (!isLater || isLast) return await read(response);
        if (response.body !== null) await overConnection(response.body.cancel());
        await delay(waitOf(response) ?? patience);
      } catch (fault) {
        // A full disk, or an answer that is no use, is the same after another try.
        if (!(fault instanceof BrokenConnection)) throw fault;
        if (isLast || !isRepeatable || !this.#hasAnswered) throw this.#unreached(url, fault.cause);
        await delay(patience);
      }
    }
  }

  async #textOf(response: Response, url: URL): Promise<string> {
    const { text, isWhole } = await overConnection(readResponseText(response, LONGEST_ANSWER));
    if (isWhole) return text;
    const { name } = this.#remote;
    throw new Error(`${name} answered ${url.pathname} with more than ${LONGEST_ANSWER} octets`);
  }

  #unreached(url: URL, fault: unknown): Error {
    return new Error(`${this.#remote.name} was not reached at ${url.origin}: ${fetchFault(fault)}`, {
      cause: fault,
    });
  }

  #parsed(text: string, url: URL): unknown {
    try {
      return JSON.parse(text);
    } catch {
      const { name } = this.#remote;
      throw new Error(`${name} answered ${url.pathname} with something other than JSON: check the address`);
    }
  }

  #refusal(status: number, text: string, url: URL): RefusedCall {
    const { name, secretName } = this.#remote;
    const said = reasonIn(text);
    const reason = said === "" ? "" : `: ${said}`;
    if (status === 401 || status === 403) {
      return new RefusedCall(status, `${name} refused the key of ${secretName} for ${url.pathname}${reason}`);
    }
    if (status >= 300 && status < 400) {
      return new RefusedCall(status, `${name} redirects ${url.origin}: give the final address`);
    }
    return new RefusedCall(status, `${name} answered ${url.pathname} with HTTP ${status}${reason}`);
  }

  #checked<Shape extends TSchema>(path: string, shape: Shape, answer: unknown): Static<Shape> {
    if (Value.Check(shape, answer)) return answer;
    const [fault] = Value.Errors(shape, answer);
    const place = fault === undefined ? "" : ` (${fault.instancePath || "the whole"} ${fault.message})`;
    throw new Error(`${this.#remote.name} answered ${path} in a form that is not known${place}`);
  }
}

/** @throws BrokenConnection */
async function overConnection<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (fault) {
    throw new BrokenConnection("The connection broke", { cause: fault });
  }
}

/** @throws BrokenConnection */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await overConnection(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // After a fault of the body there is nothing to cancel, and the call fails with the same fault.
    await reader.cancel().catch(() => undefined);
  }
}

/** Milliseconds that Retry-After names, or undefined. @throws RefusedCall for a wait that is too long to be sat out */
function waitOf({ headers, status, url }: Response): number | undefined {
  const header = headers.get("Retry-After");
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  if (Number.isNaN(ms)) return undefined;
  if (ms > LONGEST_RETRY_AFTER_MS) {
    const seconds = Math.ceil(ms / 1000);
    throw new RefusedCall(
      status,
      `${new URL(url).host} asks to wait for ${seconds} seconds: run the command again then`,
    );
  }
  return Math.max(0, ms);
}

/** The sentence of an error, where the product puts it; empty if there is none. */
function reasonIn(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return "";
  }
  const { error, message, detail, errors } = Object(body) as Readonly<Record<string, unknown>>;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = [error, detail, message, Object(first).message].find((one) => typeof one === "string");
  return String(said ?? "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, LONGEST_REASON);
}
