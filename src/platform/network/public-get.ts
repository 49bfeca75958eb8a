/**
 * One GET of a URL that a third party may have chosen: only public addresses of its host are connected to, redirects are not
 * followed, the size of the body is limited, and the caller sets a deadline.
 */
import type { IncomingMessage } from "node:http";
import { type AddressSearch, findPublicAddresses } from "./find-public-addresses.ts";
import { outgoingRequest } from "./outgoing-request.ts";

export interface PublicGet extends AddressSearch {
  /** For connecting and for reading the whole response. */
  readonly deadline: AbortSignal;
  /** Longest body, in octets. */
  readonly most: number;
  readonly accept?: string;
  /** Allows http and private or loopback addresses: for a URL that the operator has configured. */
  readonly allowPrivate: boolean;
  /** Trusted certificates (PEM); default: the root certificates of Node.js. */
  readonly ca?: string | undefined;
}

export interface PublicAnswer {
  readonly status: number;
  /** Content-Type; empty if there is none. */
  readonly type: string;
  /** The Location header of a redirect. */
  readonly location: string | null;
  readonly body: string;
}

/** Null if there is no response, if it is too long, or if the host has no allowed address. Never rejects. */
export async function getPublic(url: URL, options: PublicGet): Promise<PublicAnswer | null> {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && options.allowPrivate)) return null;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await findPublicAddresses(host, options);
  if (found.outcome !== "found") return null;
  const { deadline, accept, most, ca } = options;
  const request = {
    method: "GET",
    headers: accept === undefined ? {} : { accept },
    addresses: found.addresses,
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
