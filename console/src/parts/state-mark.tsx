/** A state as a shape, a word and a colour, so that colour never stands alone. */
import type { Schema } from "@posthaste/client";

type MessageStatus = Schema<"MessageLogRow">["status"];

export interface Look {
  readonly shape: "●" | "◐" | "▲" | "■" | "○";
  readonly tone: string;
}

const muted = "text-muted";
const looks: Readonly<Record<MessageStatus, Look>> = {
  queued: { shape: "○", tone: muted },
  sending: { shape: "◐", tone: "text-info" },
  delivered: { shape: "●", tone: "text-good" },
  deferred: { shape: "◐", tone: "text-warning" },
  bounced: { shape: "▲", tone: "text-bad" },
  failed: { shape: "▲", tone: "text-bad" },
  complained: { shape: "▲", tone: "text-bad" },
  suppressed: { shape: "■", tone: muted },
  cancelled: { shape: "■", tone: muted },
};

export function MessageState({ status }: { readonly status: MessageStatus }) {
  return <StateMark {...looks[status]} word={status} />;
}

/** What a timeline names beside statuses, such as `opened`, has no look of its own. */
export function lookOfEvent(type: string): Look {
  return (looks as Readonly<Record<string, Look>>)[type] ?? { shape: "○", tone: muted };
}

export function StateMark({ shape, tone, word }: Look & { readonly word: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span aria-hidden className={`${tone} text-[10px] leading-none`}>
        {shape}
      </span>
      <span className="inline-block first-letter:uppercase">{word}</span>
    </span>
  );
}
