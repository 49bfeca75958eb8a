import { isOwnSilence } from "./own-silence.ts";
import type { Lookup } from "./resolver-interface.ts";

/**
 * The sentence that something could not be looked up. If our own DNS servers do not answer, it names them, because the
 * owner of the name can do nothing.
 * @param what the name, or what of it: "The TXT records of example.com"
 */
export function lookUpFault(what: string, failure: Extract<Lookup<unknown>, { outcome: "failed" }>): string {
  const { reason, servers } = failure;
  if (!isOwnSilence(failure) || servers === undefined) return `${what} could not be looked up (${reason}).`;
  return `${what} could not be looked up: the DNS servers of this service do not answer (${servers.join(", ")}: ${reason}). This is no fault of the domain; the operator checks DNS_SERVERS.`;
}
