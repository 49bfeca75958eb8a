/**
 * One GET of an address that somebody else may have chosen: its host is looked up here, and what was looked at is what is
 * connected to. Redirects are not followed, little of the answer is read, and all of it ends by the caller's deadline.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { NetworkResolver } from "./dns.ts";
import { pinnedLookup } from "./pinned-lookup.ts";
import { isPublicAddress } from "./public-address.ts";

export interface PublicGet {
  readonly resolver: Pick<NetworkResolver, "ipv4" | "ipv6">;
  /** Of the connection and the whole of the answer. */
  readonly deadline: AbortSignal;
  /** Octets of the body. */
  readonly most: number;
  readonly accept: string;
  /** Also hosts on private and loopback addresses: for an address of the operator's own. */
  readonly allowPrivate: boolean;
}

export interface PublicAnswer {
  readonly status: number;
  /** Where it sends us. */
  readonly location: string | null;
  readonly body: string;
}

/** Null where there is no answer, or a longer one, or nobody that we talk to; never rejects. */
export async function getPublic(url: URL, options: PublicGet): Promise<PublicAnswer | null> {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && options.allowPrivate)) return null;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { resolver, allowPrivate } = options;
  const lookups = isIP(host) === 0 ? await Promise.all([resolver.ipv4(host), resolver.ipv6(host)]) : [];
  const found = lookups.flatMap((lookup) => (lookup.outcome === "found" ? lookup.records : []));
  const all = isIP(host) === 0 ? found : [host];
  const [first, ...others] = all.filter((address) => allowPrivate || isPublicAddress(address));
  if (first === undefined) return null;
  return ask(url, [first, ...others], options).catch(() => null);
}

async function ask(
  url: URL,
  addresses: readonly [string, ...string[]],
  { deadline, most, accept }: PublicGet,
): Promise<PublicAnswer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    headers: { accept },
    lookup: pinnedLookup(addresses),
    // A connection that was kept would be one to an address of long ago.
    agent: false,
    signal: deadline,
  });
  outgoing.on("error", reject);
  outgoing.once("response", resolve);
  outgoing.end();
  try {
    const answer = await promise;
    const chunks: Buffer[] = [];
    let octets = 0;
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer);
      octets += (chunk as Buffer).length;
      if (octets > most) return null;
    }
    const { statusCode: status = 0, headers } = answer;
    return { status, location: headers.location ?? null, body: Buffer.concat(chunks).toString() };
  } finally {
    outgoing.destroy();
  }
}
