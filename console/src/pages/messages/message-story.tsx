/** The outcome of a message, in one sentence with the words of the mail server. */
import type { ReactNode } from "react";
import { InboxLink } from "../../parts/inbox-link.tsx";
import { countText } from "../../parts/numbers.ts";
import { Time } from "../../parts/time.tsx";
import type { Message, TimelineEntry } from "./use-message.ts";

/** Named as the mail server where the installation delivers nothing. */
const CAPTURE = "capture";

export function MessageStory({ message }: { readonly message: Message }) {
  const last = lastAttempt(message);
  return (
    <div className="border-b border-line px-5 py-4 text-[15px] leading-6">
      <p>{sentenceOf(message, last)}</p>
      {last?.detail && message.status !== "delivered" && (
        <p className="mt-1 font-mono text-small break-words text-muted">{last.detail}</p>
      )}
    </div>
  );
}

function lastAttempt({ timeline, status }: Message): TimelineEntry | undefined {
  return (
    timeline.findLast(({ type }) => type === status) ??
    timeline.findLast(({ attempt }) => attempt !== null) ??
    timeline.at(-1)
  );
}

function sentenceOf(message: Message, last: TimelineEntry | undefined): ReactNode {
  const isCaptured = last?.mx_host === CAPTURE;
  const host = isCaptured ? undefined : last?.mx_host;
  const tries = message.attempts > 1 ? ` after ${countText(message.attempts)} attempts` : "";
  switch (message.status) {
    case "delivered":
      if (isCaptured) {
        return (
          <>
            Captured: it is in the <InboxLink className="text-accent underline">local inbox</InboxLink>.
          </>
        );
      }
      return `Delivered${host ? ` to ${host}` : ""}${took(message, last)}${viaOf(last)}.`;
    case "queued":
      if (message.scheduled_at && Date.parse(message.scheduled_at) > Date.now()) {
        return (
          <>
            Scheduled for <Time at={message.scheduled_at} isPrecise />.
          </>
        );
      }
      return "Waiting for its first attempt.";
    case "sending":
      return "Being sent now.";
    case "deferred":
      return (
        <>
          Waiting{tries || " after the first attempt"}
          {host && <>. {host} asked to try again later</>}.{" "}
          {message.next_attempt_at && (
            <>
              Next attempt: <Time at={message.next_attempt_at} />
            </>
          )}
        </>
      );
    case "suppressed":
      return "Not sent: the address is suppressed.";
    case "cancelled":
      return `Cancelled${tries || " before it was sent"}.`;
    case "complained":
      return "Delivered, and reported as spam by the recipient.";
    case "bounced":
      return `Not delivered${host ? `: ${host} refused it` : ""}${tries}.`;
    case "failed":
      return `Not delivered${tries}${host ? `: ${host} did not take it` : ""}.`;
  }
}

function took(message: Message, last: TimelineEntry | undefined): string {
  return last ? ` in ${durationText(Date.parse(last.time) - Date.parse(message.time))}` : "";
}

function viaOf(last: TimelineEntry | undefined): string {
  return last?.tls?.version ? ` over ${last.tls.version.replace(/^TLSv/, "TLS ")}` : "";
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
];

function durationText(ms: number): string {
  const unit = units.find(([size]) => ms >= size);
  if (unit) return `${Math.round(ms / unit[0])} ${unit[1]}`;
  return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
}
