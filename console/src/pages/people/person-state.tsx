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

/** The name of a person as one text; undefined if none is known. */
export function nameOf({
  first_name,
  last_name,
}: {
  readonly first_name: string | null;
  readonly last_name: string | null;
}): string | undefined {
  return [first_name, last_name].filter(Boolean).join(" ") || undefined;
}
