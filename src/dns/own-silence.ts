import type { Lookup } from "./resolver-interface.ts";

/** Whether a look-up failed because our own DNS servers do not answer, which says nothing about the name. */
export function isOwnSilence(answer: Lookup<unknown>): boolean {
  return answer.outcome === "failed" && answer.isUnanswered === true && answer.othersAnswered !== true;
}
