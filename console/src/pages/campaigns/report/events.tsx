/** What recipients and their servers did last, newest first. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../../api/session.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Panel } from "../../../parts/page.tsx";
import { type Look, StateMark } from "../../../parts/state-mark.tsx";
import { Time } from "../../../parts/time.tsx";
import { Waiting } from "./report-table.tsx";

type Event = Data<"listCampaignActivities">["activities"][number];

const SHOWN = 12;
const FRESH_MS = 5_000;

const looks: Readonly<Record<Event["type"], Look & { readonly word: string }>> = {
  sent: { shape: "●", tone: "text-good", word: "delivered" },
  opened: { shape: "○", tone: "text-info", word: "opened" },
  clicked: { shape: "○", tone: "text-accent", word: "clicked" },
  bounced: { shape: "▲", tone: "text-bad", word: "bounced" },
  unsubscribed: { shape: "■", tone: "text-warning", word: "unsubscribed" },
  complained: { shape: "▲", tone: "text-bad", word: "complained" },
};

export function Events({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign-events", workspace.id, id],
    queryFn: ({ signal }) => api.listCampaignActivities({ id, query: { limit: SHOWN }, signal }),
    refetchInterval: isRunning ? FRESH_MS : false,
  });
  return (
    <Panel title="Last events">
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting lines={SHOWN} />
      ) : data.activities.length === 0 ? (
        <p className="text-muted">Nothing has happened yet.</p>
      ) : (
        <ul>
          {data.activities.map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function EventLine({ event: { type, email, description, times, timestamp } }: { readonly event: Event }) {
  return (
    <li className="flex min-h-9 items-center gap-4 border-b border-line/60 text-table">
      <span className="w-32 shrink-0">
        <StateMark {...looks[type]} />
      </span>
      <span className="min-w-0 flex-1 truncate" title={description}>
        {email}
        {times > 1 && <span className="text-muted"> {counted(times, "time")}</span>}
        <span className="text-muted max-md:hidden"> {description}</span>
      </span>
      <span className="shrink-0 text-muted">
        <Time at={timestamp} />
      </span>
    </li>
  );
}
