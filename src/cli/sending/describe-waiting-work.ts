/** Says in lines for people what is sent once sending is released. */
import { counted } from "#platform/count-phrase.ts";
import type { WaitingWork } from "./waiting-work-store.ts";

/** One line for each kind of work that a release sends, with its number; empty if there is none. */
export function describeWaitingWork(work: WaitingWork): string {
  const later =
    work.scheduled_messages === 0
      ? ""
      : `, ${counted(work.scheduled_messages, "of them", "of them")} not due yet`;
  const lines = [
    work.messages > 0 && `${counted(work.messages, "message")} in the queue${later}`,
    work.campaigns_sending > 0 && `${counted(work.campaigns_sending, "campaign")} in progress`,
    work.campaigns_scheduled > 0 && `${counted(work.campaigns_scheduled, "campaign")} scheduled`,
    work.autoresponders_active > 0 && `${counted(work.autoresponders_active, "active autoresponder")}`,
    work.webhook_deliveries > 0 &&
      `${counted(work.webhook_deliveries, "webhook delivery", "webhook deliveries")}`,
  ];
  return lines.map((line) => (line === false ? "" : `  ${line}\n`)).join("");
}

/** A sentence about the messages that no release sends; empty if there are none. */
export function describeHalted({ halted_messages: halted }: WaitingWork): string {
  return halted === 0
    ? ""
    : `Not sent before a resume: ${counted(halted, "message")} of suspended workspaces or paused campaigns and autoresponders.\n`;
}
