import type { FastifyRequest } from "fastify";

/**
 * Whether the client has this version of an answer, by If-None-Match (RFC 9110 section 13.1.2): then the answer is 304.
 * @param etag in quotation marks
 */
export function isKnownVersion({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers["if-none-match"]?.split(",").map((one) => one.trim().replace(/^W\//, ""));
  return known !== undefined && (known.includes(etag) || known.includes("*"));
}
