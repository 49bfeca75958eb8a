/**
 * Asks the server of a link or an image of a mail, as the program of a reader would: with its redirects, and within a
 * deadline. Authors choose the addresses, so each hop is connected to only at a public address and a usual port.
 */
import type { IncomingMessage } from "node:http";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";
import { type AddressSearch, findPublicAddresses } from "#platform/network/find-public-addresses.ts";
import { outgoingRequest } from "#platform/network/outgoing-request.ts";

export type AskedKind = "link" | "image";

export interface ServerAnswer {
  readonly outcome: "answered";
  readonly status: number;
  /** The addresses after the first one, to which the server redirected. */
  readonly hops: readonly string[];
  /** Octets of an image, by Content-Length or as read; null for a link and for an answer that is not 200. */
  readonly bytes: number | null;
  /** Whether the body is an image, by its Content-Type or its first octets; false for a link. */
  readonly isImage: boolean;
}

/**
 * `unreachable`: the host has no address, or refuses connections. `private`: it is on a private network. `timeout`: no answer
 * in time. `redirect_loop`: too many redirects. `bad_redirect`: a redirect to no address. `unasked`: not asked, or the DNS did
 * not answer. The reason is a clause for people.
 */
export type AskFailure = {
  readonly outcome: "unreachable" | "private" | "timeout" | "redirect_loop" | "bad_redirect" | "unasked";
  readonly reason: string;
};

export type AskResult = ServerAnswer | AskFailure;

/** Some servers do not answer HEAD, which leaves the rest of the time for GET. */
const HEAD_MS = 2_500;
/** For all requests of one target together. */
export const ASKED_FOR_MS = 6_000;
const MOST_REDIRECTS = 5;
/** Octets of an image without Content-Length that are read. */
const MOST_READ = 5 * 1024 * 1024;
/** Others are rarely web servers, and asking them would let authors look for open ports. */
const webPorts: ReadonlySet<string> = new Set(["", "80", "443", "8080", "8443"]);
const headers = {
  "user-agent": "Posthaste-Check/1 (checks the links of a mail for its author)",
  accept: "*/*",
};
const timedOut: AskFailure = { outcome: "timeout", reason: "it did not answer in time" };

/** GET may have an answer where HEAD has none of use. */
const faultsOfHead: ReadonlySet<AskFailure["outcome"]> = new Set(["timeout", "bad_redirect"]);

/** Never rejects. */
export async function askServer(kind: AskedKind, url: URL, search: AddressSearch): Promise<AskResult> {
  const deadline = AbortSignal.timeout(ASKED_FOR_MS);
  if (kind === "image") return follow(kind, "GET", url, deadline, search);
  const brief = AbortSignal.any([deadline, AbortSignal.timeout(HEAD_MS)]);
  const answer = await follow(kind, "HEAD", url, brief, search);
  // Many servers refuse HEAD, or answer it wrongly.
  const isFinal = answer.outcome === "answered" ? answer.status < 400 : !faultsOfHead.has(answer.outcome);
  return isFinal ? answer : follow(kind, "GET", url, deadline, search);
}

async function follow(
  kind: AskedKind,
  method: "GET" | "HEAD",
  first: URL,
  deadline: AbortSignal,
  search: AddressSearch,
): Promise<AskResult> {
  const hops: string[] = [];
  for (let url = first; hops.length <= MOST_REDIRECTS; ) {
    const answer = await orTimeout(deadline, askOnce(kind, method, url, deadline, search));
    if ("outcome" in answer) return answer;
    const { location, ...rest } = answer;
    if (location === null) return { outcome: "answered", hops, ...rest };
    url = location;
    hops.push(url.href);
  }
  return { outcome: "redirect_loop", reason: `it redirects more than ${MOST_REDIRECTS} times` };
}

type OneAnswer = Omit<ServerAnswer, "outcome" | "hops"> & { readonly location: URL | null };

async function askOnce(
  kind: AskedKind,
  method: "GET" | "HEAD",
  url: URL,
  deadline: AbortSignal,
  { resolver, allowPrivate }: AddressSearch,
): Promise<OneAnswer | AskFailure> {
  const refused = refusalOf(url, allowPrivate);
  if (refused !== null) return { outcome: "unasked", reason: refused };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await findPublicAddresses(host, { resolver, allowPrivate });
  if (found.outcome !== "found") return failureOf[found.outcome](host);
  const request = { method, headers, addresses: found.addresses, deadline };
  return outgoingRequest(url, request, (answer) => readAnswer(answer, kind, url)).catch((fault: unknown) =>
    deadline.aborted ? timedOut : { outcome: "unreachable", reason: faultText(fault) },
  );
}

const failureOf = {
  absent: (host: string): AskFailure => ({ outcome: "unreachable", reason: `${host} has no address` }),
  hidden: (host: string): AskFailure => ({
    outcome: "private",
    reason: `${host} is on a private network`,
  }),
  failed: (host: string): AskFailure => ({
    outcome: "unasked",
    reason: `the DNS did not answer for ${host}`,
  }),
};

/** Why an address is not asked; null if it may be. */
function refusalOf({ protocol, port, username, password }: URL, allowPrivate: boolean): string | null {
  if (protocol !== "http:" && protocol !== "https:") return `it leads to a ${protocol} address`;
  if (username !== "" || password !== "") return "its address has a user name or password";
  return allowPrivate || webPorts.has(port) ? null : `port ${port} is not asked`;
}

/** The body of a link is never read: a page may be endless. */
async function readAnswer(
  answer: IncomingMessage,
  kind: AskedKind,
  url: URL,
): Promise<OneAnswer | AskFailure> {
  const { statusCode: status = 0, headers: fields } = answer;
  if ([301, 302, 303, 307, 308].includes(status)) {
    const location = fields.location === undefined ? null : URL.parse(fields.location, url.href);
    if (location !== null) return { status, location, bytes: null, isImage: false };
    return { outcome: "bad_redirect", reason: "it redirects without saying to which address" };
  }
  if (kind === "link" || status !== 200) return { status, location: null, bytes: null, isImage: false };
  const stated = Number(fields["content-length"] ?? Number.NaN);
  const { bytes, start } = await readSome(answer, Number.isSafeInteger(stated) ? FIRST_OCTETS : MOST_READ);
  return {
    status,
    location: null,
    bytes: Number.isSafeInteger(stated) ? stated : bytes,
    isImage: /^image\//i.test(fields["content-type"] ?? "") || isImage(start),
  };
}

/** Octets by which an image is recognised. */
const FIRST_OCTETS = 16;

/** Reads until the end or the limit. */
async function readSome(answer: IncomingMessage, most: number) {
  let bytes = 0;
  let start = Buffer.alloc(0);
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (start.length < FIRST_OCTETS)
      start = Buffer.concat([start, chunk as Buffer]).subarray(0, FIRST_OCTETS);
    if (bytes >= most) break;
  }
  return { bytes, start };
}

/** PNG, JPEG, GIF, WebP, BMP, AVIF and SVG, by their first octets. */
function isImage(start: Buffer): boolean {
  const text = start.toString("latin1");
  return /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|BM|....ftypavi[fs]|\s*<svg)/is.test(text);
}

/** The first line of the error, which names the address or what is wrong with the certificate. */
function faultText(fault: unknown): string {
  const first = fault instanceof AggregateError ? fault.errors[0] : fault;
  if (!(first instanceof Error)) return "the connection failed";
  if ("code" in first && first.code === "ECONNREFUSED") return "it refuses connections";
  return connectionFault(first).slice(0, 200).toWellFormed().replaceAll("\0", "");
}

/** The result of `promise`, or "timeout" when the deadline passes first. */
async function orTimeout<Result>(
  deadline: AbortSignal,
  promise: Promise<Result>,
): Promise<Result | AskFailure> {
  if (deadline.aborted) return timedOut;
  const passed = Promise.withResolvers<AskFailure>();
  const onAbort = () => passed.resolve(timedOut);
  deadline.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, passed.promise]);
  } finally {
    deadline.removeEventListener("abort", onAbort);
  }
}
