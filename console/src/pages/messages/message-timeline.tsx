/** Everything that happened to a message, newest first. An attempt opens into its connection and the SMTP conversation. */
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/numbers.ts";
import { lookOfEvent } from "../../parts/state-mark.tsx";
import { TimelineItem } from "../../parts/timeline-item.tsx";
import { Attempt } from "./attempt.tsx";
import type { TimelineEntry } from "./use-message.ts";

/** Of a message with many attempts, these are shown first. */
const SHOWN_FIRST = 12;

export function MessageTimeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  const [isWhole, setWhole] = useState(false);
  const newestFirst = [...entries].reverse();
  const shown = isWhole ? newestFirst : newestFirst.slice(0, SHOWN_FIRST);
  const hidden = newestFirst.length - shown.length;
  return (
    <>
      <ol>
        {shown.map((entry, index) => (
          <Entry
            key={`${entry.time} ${entry.type} ${(newestFirst.length - index).toString()}`}
            entry={entry}
          />
        ))}
      </ol>
      {hidden > 0 && (
        <Button kind="quiet" className="text-accent" onPress={() => setWhole(true)}>
          Show {counted(hidden, "earlier event")}
        </Button>
      )}
    </>
  );
}

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { type, time, attempt, times, detail, conversation, tls } = entry;
  const [isOpen, setOpen] = useState(false);
  return (
    <TimelineItem
      look={lookOfEvent(type)}
      at={time}
      title={
        <>
          <span className="mr-2 font-medium capitalize">{type.replaceAll("_", " ")}</span>
          {attempt !== null && <span className="mr-2 text-muted">attempt {attempt}</span>}
          {times > 1 && <span className="text-muted">{counted(times, "time")}</span>}
        </>
      }
      facts={<Facts entry={entry} />}
      quote={detail}
    >
      {(conversation !== null || tls !== null) && (
        <Button
          kind="quiet"
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
          className="mt-1 -ml-2 px-2"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={`transition-transform duration-100 ${isOpen ? "rotate-90" : ""}`}
          />
          {conversation ? "SMTP conversation" : "Connection"}
        </Button>
      )}
      {isOpen && <Attempt entry={entry} />}
    </TimelineItem>
  );
}

/** The connection of an attempt, or the program that opened the mail. */
function Facts({ entry }: { readonly entry: TimelineEntry }) {
  const { mx_host, source_ip, tls, user_agent, machine_sign } = entry;
  const connection = [
    mx_host,
    source_ip && `from ${source_ip}`,
    tls && (tls.version?.replace(/^TLSv/, "TLS ") ?? "clear text"),
  ].filter(Boolean);
  return (
    <>
      {connection.length > 0 && <p className="text-small break-words text-muted">{connection.join(" · ")}</p>}
      {(user_agent || machine_sign) && (
        <p className="text-small break-words text-muted">
          {[user_agent, machine_sign && `a program${whyOf(machine_sign)}`].filter(Boolean).join(" · ")}
        </p>
      )}
    </>
  );
}

/** Why an open or click counts as that of a program. */
const signs: Readonly<Record<string, string>> = {
  agent: "by the name it gave itself",
  head: "it did not ask for the page",
  prefetch: "it loaded ahead of the person",
  early: "it came too soon after the delivery",
  sweep: "it followed many links at once",
};

function whyOf(sign: string): string {
  return sign in signs ? `: ${signs[sign]}` : "";
}
