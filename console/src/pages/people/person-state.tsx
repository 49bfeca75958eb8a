/** The state of a person: on one list, or the worst of all lists. */
import type { Schema } from "@posthaste/client";
import { type Look, StateMark } from "../../parts/state-mark.tsx";

export type PersonStatus = Schema<"SubscriberSummary">["status"];

const looks: Readonly<Record<PersonStatus, Look>> = {
  active: { shape: "●", tone: "text-good" },
  unsubscribed: { shape: "■", tone: "text-muted" },
  bounced: { shape: "▲", tone: "text-bad" },
  complained: { shape: "▲", tone: "text-bad" },
};

export function PersonState({ status }: { readonly status: PersonStatus }) {
  return <StateMark {...looks[status]} word={status} />;
}
