/**
 * One HTTP request to IP addresses that the caller has checked. Each request opens a connection of its own and closes it
 * after the response, so that a connection never outlives the check of its address.
 *
 * This uses node:http rather than undici. Measured with an undici Agent for each request: 365 to 430 requests/s instead of
 * 605 to 730 (HTTP), 43 to 72 instead of 52 to 98 (HTTPS), and 30 MB of memory in each process that imports it.
 */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";

export interface OutgoingRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly headers: OutgoingHttpHeaders;
  /** The checked addresses of the URL's host. */
  readonly addresses: readonly [string, ...string[]];
  /** For connecting and for reading the whole response. */
  readonly deadline: AbortSignal;
  /** Trusted certificates (PEM); default: the root certificates of Node.js. */
  readonly ca?: string | readonly string[];
  readonly body?: string;
}

/**
 * Sends the request, hands the response to `read` and gives its result. Redirects are not followed.
 *
 * @throws when there is no response: the connection failed, was closed, or the deadline has passed
 */
export async function outgoingRequest<Result>(
  url: URL,
  { method, headers, addresses, deadline, ca, body }: OutgoingRequest,
  read: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method,
    headers,
    lookup: pinnedLookup(addresses),
    agent: false,
    signal: deadline,
    ...(ca !== undefined && { ca: typeof ca === "string" ? ca : [...ca] }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // The listener stays after the response: an error without a listener would end the process.
  outgoing.on("error", reject);
  outgoing.once("response", resolve);
  // After 101 Switching Protocols, Node.js closes the connection without a response or an error.
  outgoing.once("close", () => reject(new Error("the connection was closed without an answer")));
  outgoing.end(body);
  try {
    return await read(await promise);
  } finally {
    outgoing.destroy();
  }
}

/**
 * A `lookup` option for a connection that gives these addresses without asking the DNS. A DNS answer that changes after the
 * check (DNS rebinding) therefore has no effect.
 */
export function pinnedLookup(addresses: readonly [string, ...string[]]): LookupFunction {
  const [first] = addresses;
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) =>
    options.all ? callback(null, all) : callback(null, first, isIP(first));
}
