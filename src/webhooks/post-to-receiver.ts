/**
 * Sends one webhook as a POST. The receiver's host is resolved here, all its addresses must be public, and only these
 * checked addresses are connected to (no DNS rebinding), or have a connection that was kept. Redirects are not followed, only the beginning of the response body
 * is read, and one deadline covers everything. Failures are results, never exceptions.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { performance } from "node:perf_hooks";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { KeptConnections } from "#platform/network/kept-connections.ts";
import { outgoingRequest } from "#platform/network/outgoing-request.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import { hostOf, isLocalName } from "./receiver-url.ts";

/** For the DNS look-up, the connection and the whole response. */
const TIMEOUT_MS = 10_000;
/**
 * Octets of a response body that are read, and kept of a failure. A shorter body is read whole, so its connection ends
 * cleanly.
 */
const MOST_READ = 16 * 1_024;
/** Octets that are kept of a success: almost all deliveries succeed, and there is no fault to look for. */
const MOST_OF_SUCCESS = 1_024;

export interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The body of a response, as text. */
export interface ReceiverAnswer {
  readonly content_type: string | null;
  /** Octets that are not UTF-8, and NUL, are replaced by U+FFFD. */
  readonly body: string;
  /** Whether more was sent, or announced, than is kept. */
  readonly is_cut: boolean;
}

export interface PostResult {
  readonly isDelivered: boolean;
  /** Null if there was no response. */
  readonly statusCode: number | null;
  /** Null if the webhook was delivered. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Null if there was no response. */
  readonly answer: ReceiverAnswer | null;
}

export interface ReceiverOptions {
  readonly resolver: Pick<Resolver, "ipv4" | "ipv6">;
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  readonly connections: KeptConnections;
  /** Certificates (PEM) that are trusted instead of the root certificates of Node.js. */
  readonly authorities?: readonly string[];
}

export type PostToReceiver = (attempt: Attempt) => Promise<PostResult>;

/** The IP addresses of a host. */
type Addresses = readonly [string, ...string[]];

/** The reason why a webhook was not delivered, worded for the owner of the receiver. */
class Undelivered extends Error {}

export function createReceiver(options: ReceiverOptions): PostToReceiver {
  const { timeoutMs = TIMEOUT_MS } = options;
  return async (attempt) => {
    const begin = performance.now();
    const deadline = AbortSignal.timeout(timeoutMs);
    const ended = (
      statusCode: number | null,
      error: string | null,
      answer: ReceiverAnswer | null = null,
    ): PostResult => ({
      isDelivered: error === null,
      statusCode,
      error,
      durationMs: Math.round(performance.now() - begin),
      answer,
    });
    try {
      const url = new URL(attempt.url);
      // The receiver may have been added while ALLOW_PRIVATE_WEBHOOKS was on.
      if (url.protocol !== "https:" && !options.allowPrivate) throw new Undelivered("the URL is not https");
      const addresses = await within(deadline, findAddresses(hostOf(url), options));
      const { status, answer } = await post(url, attempt, { addresses, deadline, ...options });
      return ended(status, faultOf(status), answer);
    } catch (fault) {
      if (deadline.aborted) return ended(null, `no answer within ${timeoutMs / 1_000} seconds`);
      if (fault instanceof Undelivered) return ended(null, fault.message);
      return ended(null, connectionFault(fault));
    }
  };
}

function faultOf(status: number): string | null {
  if (isSuccess(status)) return null;
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  return `HTTP ${status}`;
}

/** The first line of the error: it names the address, or what is wrong with the certificate. */
function connectionFault(fault: unknown): string {
  const first = fault instanceof AggregateError ? fault.errors[0] : fault;
  const text = first instanceof Error ? first.message : String(first);
  return (text.split("\n")[0] ?? "").slice(0, 300).toWellFormed().replaceAll("\0", "");
}

/** @throws Undelivered if the host has no address, or one that is not public */
async function findAddresses(host: string, { resolver, allowPrivate }: ReceiverOptions): Promise<Addresses> {
  const addresses = await lookUp(host, resolver);
  const hidden = allowPrivate ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (hidden !== undefined)
    throw new Undelivered(`${host} leads to ${hidden}, which is not a public address`);
  return addresses;
}

async function lookUp(host: string, resolver: ReceiverOptions["resolver"]): Promise<Addresses> {
  if (isIP(host) !== 0) return [host];
  if (isLocalName(host)) return ["127.0.0.1", "::1"];
  const answers = await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]);
  const [first, ...others] = answers.flatMap((answer) => (answer.outcome === "found" ? answer.records : []));
  if (first !== undefined) return [first, ...others];
  const failed = answers.find((answer) => answer.outcome === "failed");
  throw new Undelivered(
    failed ? `the DNS did not answer for ${host} (${failed.reason})` : `${host} has no address`,
  );
}

/** The result of `promise`; rejects when the deadline passes first. */
async function within<Result>(deadline: AbortSignal, promise: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const onAbort = () => late.reject(deadline.reason);
  deadline.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    deadline.removeEventListener("abort", onAbort);
  }
}

/** @returns the HTTP status, and the beginning of the body */
function post(
  url: URL,
  { headers, body }: Attempt,
  {
    addresses,
    deadline,
    connections,
    authorities,
  }: ReceiverOptions & { readonly addresses: Addresses; readonly deadline: AbortSignal },
): Promise<{ readonly status: number; readonly answer: ReceiverAnswer }> {
  const request = {
    method: "POST",
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    addresses,
    deadline,
    connections,
    body,
    ...(authorities && { ca: authorities }),
  } as const;
  return outgoingRequest(url, request, async (answer) => {
    const { octets, isCut } = await readSome(answer);
    const status = answer.statusCode ?? 0;
    const kept = octets.subarray(0, isSuccess(status) ? MOST_OF_SUCCESS : MOST_READ);
    return {
      status,
      answer: {
        content_type: answer.headers["content-type"]?.slice(0, LONGEST_TYPE).toWellFormed() ?? null,
        body: textOf(kept),
        is_cut: isCut || kept.length < octets.length,
      },
    };
  });
}

const isSuccess = (status: number) => status >= 200 && status < 300;

const LONGEST_TYPE = 200;

/** A character that the limit has cut in two is left out. */
function textOf(octets: Buffer): string {
  const text = new TextDecoder().decode(octets, { stream: true });
  return text.replaceAll("\0", "\uFFFD");
}

/** Reads until the end, the limit, the deadline or an error. None of these changes the result, which is the status. */
async function readSome(
  answer: IncomingMessage,
): Promise<{ readonly octets: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let read = 0;
  let isCut = false;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      read += (chunk as Buffer).length;
      if (read > MOST_READ) break;
    }
  } catch {
    isCut = true;
  }
  return { octets: Buffer.concat(chunks).subarray(0, MOST_READ), isCut: isCut || read > MOST_READ };
}
