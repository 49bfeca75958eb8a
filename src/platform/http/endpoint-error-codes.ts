/** The error codes of an endpoint: most follow from its declaration, the others it lists in `errors`. */
import { type ErrorCode, errorTable } from "#platform/errors.ts";
import { isClosedToSuspended } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";

/** The codes in the order of the error table. */
export function errorCodesOf(endpoint: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    "VALIDATION_ERROR",
    "UNAUTHORIZED",
    "RATE_LIMIT_EXCEEDED",
    "INTERNAL_ERROR",
  ]);
  const { needs } = endpoint;
  if (needs === "public") codes.delete("UNAUTHORIZED");
  if (typeof needs !== "string") codes.add("INSUFFICIENT_SCOPE");
  // People in a session: of another workspace, from a page of another site, without the second factor.
  codes.add("FORBIDDEN");
  if (typeof needs !== "string" || needs === "authenticated") codes.add("SECOND_FACTOR_REQUIRED");
  if (endpoint.confirmed) codes.add("REAUTHENTICATION_REQUIRED");
  if (isClosedToSuspended(endpoint)) codes.add("SERVICE_SUSPENDED");
  if (endpoint.path.includes("{")) codes.add("NOT_FOUND");
  if (endpoint.body) codes.add("PAYLOAD_TOO_LARGE");
  if (endpoint.idempotent) codes.add("CONFLICT");
  for (const code of endpoint.errors ?? []) codes.add(code);
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}
