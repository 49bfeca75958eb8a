/**
 * One GET of an address that somebody else may have chosen: its host is looked up here, and what was looked at is what is
 * connected to. Redirects are not followed, little of the answer is read, and all of it ends by the caller's deadline.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { outgoingRequest } from "./outgoing-request.ts";
import { isPublicAddress } from "./public-address.ts";

type FindAddresses = (
  name: string,
) => Promise<
  | { readonly outcome: "found"; readonly records: readonly string[] }
  | { readonly outcome: "absent" | "failed" }
>;

export interface PublicGet {
  readonly resolver: { readonly ipv4: FindAddresses; readonly ipv6: FindAddresses };
  /** Of the connection and the whole of the answer. */
  readonly deadline: AbortSignal;
  /** Octets of the body. */
  readonly most: number;
  readonly accept?: string;
  /** Also hosts on private and loopback addresses: for an address of the operator's own. */
  readonly allowPrivate: boolean;
  /** Whom to trust (PEM); default: the roots that Node brings. */
  readonly ca?: string | undefined;
}

export interface PublicAnswer {
  readonly status: number;
  /** Its Content-Type; empty where it has none. */
  readonly type: string;
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
  const { deadline, accept, most, ca } = options;
  const request = {
    method: "GET",
    headers: accept === undefined ? {} : { accept },
    addresses: [first, ...others],
    deadline,
    ...(ca !== undefined && { ca }),
  } as const;
  return outgoingRequest(url, request, (answer) => readAnswer(answer, most)).catch(() => null);
}

async function readAnswer(answer: IncomingMessage, most: number): Promise<PublicAnswer | null> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    octets += (chunk as Buffer).length;
    if (octets > most) return null;
  }
  const { statusCode: status = 0, headers } = answer;
  const { location = null, "content-type": type = "" } = headers;
  return { status, type, location, body: Buffer.concat(chunks).toString() };
}
