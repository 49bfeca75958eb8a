/** One HTTP request to addresses that were looked at before: a connection of its own, which ends with the answer. */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { pinnedLookup } from "./pinned-lookup.ts";

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly headers: OutgoingHttpHeaders;
  /** Where the name of the URL leads to. */
  readonly addresses: readonly [string, ...string[]];
  /** Of the connection and the whole of the answer. */
  readonly deadline: AbortSignal;
  /** Whom to trust (PEM); default: the roots that Node brings. */
  readonly ca?: string | readonly string[];
  readonly body?: string;
}

/**
 * Gives what is read of the answer; redirects are answers like others.
 *
 * @throws when none comes: why there is no connection, or that it ended
 */
export async function outgoingRequest<Result>(
  url: URL,
  { method, headers, addresses, deadline, ca, body }: OutgoingRequest,
  read: (answer: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method,
    headers,
    lookup: pinnedLookup(addresses),
    // A connection that was kept would be one to an address of long ago.
    agent: false,
    signal: deadline,
    ...(ca !== undefined && { ca: typeof ca === "string" ? ca : [...ca] }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Also after the answer: a connection that breaks later is nobody's business.
  outgoing.on("error", reject);
  outgoing.once("response", resolve);
  // A server that switches protocols (101) has Node.js end the connection with neither, and a deadline without effect.
  outgoing.once("close", () => reject(new Error("the connection was closed without an answer")));
  outgoing.end(body);
  try {
    return await read(await promise);
  } finally {
    outgoing.destroy();
  }
}
