/** One message: what became of it in a sentence, then everything that happened, newest first. */
import type { Schema } from "@posthaste/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Maximize2, X } from "lucide-react";
import type { ReactNode } from "react";
import { usePlace } from "../../api/session.tsx";
import { IconButton } from "../../parts/button.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { useKeys } from "../../parts/keys.ts";
import { lookOfEvent } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";

type Message = Schema<"Message">;
type Entry = Message["timeline"][number];

export function MessagePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(
    queryOptions({
      queryKey: ["message", workspace.id, id],
      queryFn: ({ signal }) => api.getMessage({ id, signal }),
    }),
  );
  useKeys({ Escape: onClose });
  return (
    <aside aria-label="Message" className="flex h-dvh min-w-0 flex-col border-l border-line bg-surface">
      <div className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-4">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{data?.subject || "Message"}</h2>
        <IconButton
          label="Open the whole page"
          hint="Enter"
          icon={<Maximize2 size={15} aria-hidden />}
          onPress={() => navigate({ to: `/${workspace.id}/messages/${id}` })}
        />
        <IconButton label="Close" hint="Esc" icon={<X size={16} aria-hidden />} onPress={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        {error ? (
          <Failure error={error} onRetry={() => refetch()} />
        ) : data ? (
          <MessageFacts message={data} />
        ) : null}
      </div>
    </aside>
  );
}

export function MessageFacts({ message }: { readonly message: Message }) {
  return (
    <>
      <p className="border-b border-line px-5 py-4 text-[15px] leading-6">{storyOf(message)}</p>
      <div className="border-b border-line px-5 py-4">
        <Facts>
          <Fact name="To">
            <Copyable text={message.to} label="address" isMono={false} />
          </Fact>
          <Fact name="From">{message.from_email}</Fact>
          <Fact name="Sent by">{message.origin_name}</Fact>
          <Fact name="Accepted">
            <Time at={message.time} isPrecise />
          </Fact>
          <Fact name="Id">
            <Copyable text={message.id} label="message id" />
          </Fact>
          {message.request_id && (
            <Fact name="Request">
              <Copyable text={message.request_id} label="request id" />
            </Fact>
          )}
        </Facts>
      </div>
      <h3 className="px-5 pt-4 pb-2 text-small font-medium text-muted">What happened</h3>
      <ol className="px-5 pb-8">
        {[...message.timeline].reverse().map((entry, index) => (
          <TimelineEntry key={`${entry.time} ${index.toString()}`} entry={entry} />
        ))}
      </ol>
    </>
  );
}

function TimelineEntry({ entry }: { readonly entry: Entry }) {
  const { type, time, detail, mx_host, source_ip, tls, times } = entry;
  const connection = [
    mx_host,
    source_ip && `from ${source_ip}`,
    tls?.version ?? (tls && "clear text"),
  ].filter(Boolean);
  return (
    <li className="relative border-l border-line pb-4 pl-5 last:border-transparent">
      <span className="absolute top-0.5 -left-[5px] bg-surface">
        <span aria-hidden className={`block text-[10px] leading-4 ${lookOfEvent(type).tone}`}>
          {lookOfEvent(type).shape}
        </span>
      </span>
      <p className="flex items-baseline gap-2">
        <span className="font-medium capitalize">{type.replaceAll("_", " ")}</span>
        {times > 1 && <span className="text-muted">{times} times</span>}
        <span className="ml-auto text-small text-muted">
          <Time at={time} />
        </span>
      </p>
      {connection.length > 0 && <p className="text-small text-muted">{connection.join(" · ")}</p>}
      {detail && (
        <p className="mt-1 rounded bg-sunken px-2.5 py-1.5 font-mono text-small break-words">{detail}</p>
      )}
    </li>
  );
}

/** What became of the message, in one sentence. */
function storyOf(message: Message): ReactNode {
  const last = message.timeline.findLast((entry) => entry.type === message.status) ?? message.timeline.at(-1);
  const host = last?.mx_host;
  const via = last?.tls?.version ? ` over ${last.tls.version.replace(/^TLSv/, "TLS ")}` : "";
  const took = last ? durationOf(Date.parse(last.time) - Date.parse(message.time)) : "";
  switch (message.status) {
    case "delivered":
      return `Delivered${host ? ` to ${host}` : ""} in ${took}${via}.`;
    case "queued":
    case "sending":
      return "Waiting for its first attempt.";
    case "deferred":
      return (
        <>
          Waiting after attempt {message.attempts}.{" "}
          {message.next_attempt_at && (
            <>
              Next try <Time at={message.next_attempt_at} />.
            </>
          )}
        </>
      );
    case "suppressed":
      return "Not sent: the address is suppressed.";
    case "cancelled":
      return "Cancelled before it was sent.";
    case "complained":
      return "Delivered, and reported as spam by the recipient.";
    default:
      return `Not delivered${host ? `: ${host} refused it` : ""}${message.attempts > 1 ? ` after ${message.attempts} attempts` : ""}.`;
  }
}

function durationOf(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ];
  const unit = units.find(([size]) => ms >= size);
  if (unit) return `${Math.round(ms / unit[0])} ${unit[1]}`;
  return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
}
