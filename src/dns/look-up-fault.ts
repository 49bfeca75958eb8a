import { isOwnSilence } from "./own-silence.ts";
import type { Lookup } from "./resolver-interface.ts";

/**
 * The sentence that something could not be looked up. It says so if our own DNS servers do not answer, because the owner of
 * the name can do nothing. Their addresses are for the operator only.
 * @param what the name, or what of it: "The TXT records of example.com"
 */
export function lookUpFault(what: string, failure: Extract<Lookup<unknown>, { outcome: "failed" }>): string {
  const sentence = `${what} could not be looked up (${failure.reason}).`;
  if (!isOwnSilence(failure)) return sentence;
  return `${sentence} The DNS servers of this service do not answer, which is no fault of the domain: the operator finds them with the doctor.`;
}
