/** What a person did and what happened to the mail for them, newest first, of the chosen kinds. */
import activity from "schema:PersonActivity";
import type { Data, Query } from "@posthaste/client";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Panel } from "../../parts/page.tsx";
import type { Look } from "../../parts/state-mark.tsx";
import { TimelineItem } from "../../parts/timeline-item.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";

type Activity = Data<"listSubscriberActivities">[number];
type Kind = Activity["kind"];

const quiet = { shape: "○", tone: "text-muted" } as const;
const bad = { shape: "▲", tone: "text-bad" } as const;
const good = { shape: "●", tone: "text-good" } as const;
const info = { shape: "●", tone: "text-info" } as const;

const looks: Readonly<Record<Kind, Look>> = {
  joined: good,
  sent: quiet,
  delivered: good,
  opened: info,
  clicked: info,
  bounced: bad,
  failed: bad,
  suppressed: { shape: "■", tone: "text-muted" },
  complained: bad,
  changed: quiet,
  left: { shape: "■", tone: "text-warning" },
};

const kinds = activity.properties.kind?.enum ?? [];

export function PersonTimeline({ id }: { readonly id: string }) {
  const { api, workspace } = usePlace();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } =
    useInfiniteQuery({
      queryKey: ["person", workspace.id, id, "activities", chosen],
      queryFn: async ({ pageParam, signal }) => {
        const query: Query<"listSubscriberActivities"> = {
          ...(chosen.length > 0 && { kinds: chosen.join(",") }),
          ...(pageParam !== undefined && { after: pageParam }),
        };
        return api.listSubscriberActivities({ id, query, signal }).withResponse();
      },
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
      placeholderData: keepPreviousData,
    });
  const entries = data?.pages.flatMap((page) => page.data);
  return (
    <Panel title="What happened">
      <ToggleButtonGroup
        aria-label="Kinds of events"
        selectionMode="multiple"
        selectedKeys={chosen}
        onSelectionChange={(keys) => setChosen([...keys].map(String).sort())}
        className="mb-4 flex flex-wrap gap-1.5"
      >
        {kinds.map((kind) => (
          <ToggleButton
            key={kind}
            id={kind}
            className="h-7 cursor-default rounded-control border border-control/60 px-2.5 text-table text-muted hover:bg-sunken data-[selected]:border-accent data-[selected]:bg-selected data-[selected]:text-text"
          >
            {kind}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {entries?.length === 0 && (
        <p className="text-muted">
          {chosen.length > 0 ? "Nothing of these kinds." : "Nothing happened yet."}
        </p>
      )}
      <ol
        className={`transition-opacity duration-100 ${isPlaceholderData ? "opacity-60 delay-300" : ""} ${entries ? "" : "min-h-40"}`}
      >
        {entries?.map((entry) => (
          <Entry key={`${entry.id} ${entry.kind} ${entry.timestamp}`} entry={entry} />
        ))}
      </ol>
      {hasNextPage && (
        <Button onPress={() => void fetchNextPage()} isPending={isFetchingNextPage}>
          {isFetchingNextPage ? "Loading …" : "Earlier"}
        </Button>
      )}
    </Panel>
  );
}

function Entry({ entry }: { readonly entry: Activity }) {
  const { kind, timestamp, times, is_machine, detail, url, smtp_code, enhanced_code, mx_host } = entry;
  const reply = [mx_host, smtp_code, enhanced_code].filter(Boolean).join(" · ");
  return (
    <TimelineItem
      look={looks[kind]}
      at={timestamp}
      title={
        <>
          <span className="font-medium capitalize">{kind}</span> <About entry={entry} />
          {times > 1 && <span className="text-muted"> · {times} times</span>}
          {is_machine && <span className="text-muted"> · by a program</span>}
        </>
      }
      facts={
        <>
          {url && <p className="truncate text-small text-muted">{url}</p>}
          {reply && <p className="text-small text-muted">{reply}</p>}
        </>
      }
      quote={detail}
    />
  );
}

/** What an event is about: a message, a list or a change. */
function About({ entry }: { readonly entry: Activity }): ReactNode {
  const { message, mailing_list, joined_from, operation, actor_name, changed_fields } = entry;
  const link = "text-accent hover:underline";
  if (message && !mailing_list) {
    return (
      <>
        <PlaceLink to={`messages/${message.id}`} className={link}>
          {message.subject || "message without a subject"}
        </PlaceLink>
        {message.origin_name && <span className="text-muted"> of {message.origin_name}</span>}
      </>
    );
  }
  if (mailing_list) {
    return (
      <>
        <PlaceLink to={`lists/${mailing_list.id}`} className={link}>
          {mailing_list.name}
        </PlaceLink>
        {joined_from && <span className="text-muted"> by {joined_from}</span>}
      </>
    );
  }
  if (operation === null) return null;
  return (
    <span className="text-muted">
      {changed_fields.length > 0 ? changed_fields.map(spaced).join(", ") : spaced(operation)}
      {actor_name && ` by ${actor_name}`}
    </span>
  );
}

/** A name of the API in words: `first_name` as "first name", `updateMember` as "update member". */
function spaced(name: string): string {
  return name.replaceAll("_", " ").replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
