/** What the command_status of a submit_sm_resp means (SMPP 3.4 section 5.1.3). */

import smpp from "smpp";
import type { SmsResult } from "#delivery/message/attempt.ts";
import { declined } from "./gateway.ts";

const names: ReadonlyMap<number, string> = new Map(
  Object.entries(smpp.errors).map(([name, status]) => [status, name]),
);

/** We are too fast. */
const throttled: ReadonlySet<string> = new Set(["ESME_RTHROTTLED", "ESME_RMSGQFUL"]);
/** The fault is the service centre's, or the connection's, and passes. */
const passing: ReadonlySet<string> = new Set([
  "ESME_RSYSERR",
  "ESME_RINVBNDSTS",
  "ESME_RALYBND",
  "ESME_RSUBMITFAIL",
  "ESME_RX_T_APPN",
  "ESME_RUNKNOWNERR",
]);

/** Of an answer that is no success; what is not known to pass is for good. */
export function readRefusal(status: number): SmsResult {
  const name = names.get(status);
  const number = `0x${status.toString(16).padStart(8, "0")}`;
  const reason = name === undefined ? `status ${number}` : `${name} (${number})`;
  if (name !== undefined && throttled.has(name)) return declined(reason, true, { isThrottled: true });
  return declined(reason, name !== undefined && passing.has(name));
}
