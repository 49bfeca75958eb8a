/** Who gets the campaign: a list or a segment of one, how many people that is, who is left out and why, and some of them. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { listsQuery } from "../../../api/lists.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted, countText } from "../../../parts/numbers.ts";
import { Picker } from "../../../parts/picker.tsx";
import { Segmented } from "../../../parts/segmented.tsx";
import type { Check } from "../findings.tsx";
import { ExcludedReasons } from "../send/excluded-reasons.tsx";
import type { Campaign, Draft } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

const ConditionsChoice = lazy(async () => ({
  default: (await import("./conditions-choice.tsx")).ConditionsChoice,
}));

type Kind = "list" | "segment" | "conditions";

const SAMPLES = 10;

export function ToStep({ campaign, draft, edit, check }: OpenDraft & { readonly check: Check | undefined }) {
  const { workspace } = usePlace();
  const [kind, setKind] = useState<Kind>(kindOf(draft));
  const kinds = [
    { id: "list", name: "A list" },
    ...(mayCall(workspace, "listSegments") ? [{ id: "segment", name: "A segment" } as const] : []),
    ...(draft.segment_conditions || mayCall(workspace, "previewSegment")
      ? [{ id: "conditions", name: "Conditions" } as const]
      : []),
  ] as const;
  return (
    <div className="flex max-w-2xl flex-col gap-5">
      <Segmented label="Goes to" value={kind} segments={kinds} onChange={setKind} />
      {kind !== kindOf(draft) && draft.mailing_list_id !== null && (
        <p role="status" className="border-l-2 border-info px-4 py-1">
          Nothing has changed yet: the campaign goes to {audienceWords[kindOf(draft)]} until another audience
          is complete.
        </p>
      )}
      {kind === "list" && (
        <ListChoice
          value={kindOf(draft) === "list" ? draft.mailing_list_id : null}
          onChange={(id) => edit({ mailing_list_id: id, segment_id: null, segment_conditions: null })}
        />
      )}
      {kind === "segment" && (
        <SegmentChoice
          value={draft.segment_id}
          known={campaign}
          onChange={({ id, mailing_list_id }) =>
            edit({ segment_id: id, mailing_list_id, segment_conditions: null })
          }
        />
      )}
      {kind === "conditions" && (
        <Suspense fallback={<div aria-busy className="h-60" />}>
          <ConditionsChoice draft={draft} edit={edit} />
        </Suspense>
      )}
      <AudienceFacts check={check} listId={draft.mailing_list_id} />
      {kind !== "conditions" && kindOf(draft) !== "conditions" && <Samples draft={draft} />}
    </div>
  );
}

const audienceWords: Readonly<Record<Kind, string>> = {
  list: "the people of its list",
  segment: "its segment",
  conditions: "the people who meet its conditions",
};

function kindOf({ segment_id, segment_conditions }: Draft): Kind {
  if (segment_id !== null) return "segment";
  return segment_conditions === null ? "list" : "conditions";
}

function ListChoice({
  value,
  onChange,
}: {
  readonly value: string | null;
  readonly onChange: (id: string) => void;
}) {
  const { data, error, refetch } = useQuery(listsQuery(usePlace()));
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <div className="h-15" />;
  return (
    <Picker
      label="List"
      placeholder="Choose a list …"
      value={value}
      onChange={onChange}
      options={data.map(({ id, name, subscriber_count }) => ({
        id,
        name,
        description: counted(subscriber_count, "active member"),
      }))}
    />
  );
}

type Segment = Data<"listSegments">["segments"][number];

function SegmentChoice({
  value,
  known,
  onChange,
}: {
  readonly value: string | null;
  /** Names the segment with which the editor began, which need not be among the first ones. */
  readonly known: Pick<Campaign, "segment_id" | "segment_name">;
  readonly onChange: (segment: Segment) => void;
}) {
  const { api, workspace } = usePlace();
  const [text, setText] = useState("");
  const found = useQuery({
    queryKey: ["segments", workspace.id, "choice", text],
    queryFn: ({ signal }) =>
      api.listSegments({ query: { limit: 50, ...(text && { search: text }) }, signal }),
    placeholderData: (former) => former,
  });
  const segments = found.data?.segments ?? [];
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === undefined) return <div className="h-15" />;
  return (
    <Picker
      label="Segment"
      placeholder="Choose a segment …"
      value={value}
      onText={setText}
      onChange={(id) => {
        const segment = segments.find((one) => one.id === id);
        if (segment) onChange(segment);
      }}
      options={[
        ...segments.map(({ id, name, mailing_list_name, subscriber_count }) => ({
          id,
          name,
          description: `of ${mailing_list_name}${subscriber_count === null ? "" : `, ${counted(subscriber_count, "person", "people")}`}`,
        })),
        ...(known.segment_id === null || segments.some(({ id }) => id === known.segment_id)
          ? []
          : [{ id: known.segment_id, name: known.segment_name ?? "A deleted segment" }]),
      ]}
    />
  );
}

/** How many people get it, and why others do not. */
function AudienceFacts({
  check,
  listId,
}: {
  readonly check: Check | undefined;
  readonly listId: string | null;
}) {
  const audience = check?.audience;
  const reason = check?.unchecked.find(({ part }) => part === "audience")?.reason;
  if (!audience)
    return <p className="min-h-16 text-muted">{reason ?? (check ? "Choose who gets it." : "Counting …")}</p>;
  const { total, will_send, excluded, is_estimate } = audience;
  return (
    <div>
      <p className="text-figure font-semibold">
        {is_estimate && "about "}
        {countText(will_send)}
        <span className="ml-2 text-body font-normal text-muted">
          of {counted(total, "person", "people")} would get it now
        </span>
      </p>
      {excluded.total > 0 && (
        <div className="mt-2 text-muted">
          {countText(excluded.total)} are left out: <ExcludedReasons excluded={excluded} listId={listId} />
        </div>
      )}
    </div>
  );
}

/** Ten of the people, so that a wrong choice is seen. */
function Samples({ draft: { mailing_list_id, segment_id } }: { readonly draft: Draft }) {
  const { api, workspace } = usePlace();
  const { data } = useQuery({
    queryKey: ["people", workspace.id, "samples", mailing_list_id, segment_id],
    queryFn: async ({ signal }) => {
      const place = { id: mailing_list_id ?? "", query: { limit: SAMPLES }, signal };
      return segment_id === null
        ? (await api.listMembers({ ...place, query: { limit: SAMPLES, status: "active" } })).subscribers
        : (await api.listSegmentMembers({ ...place, segment_id })).subscribers;
    },
    enabled: mailing_list_id !== null && mayCall(workspace, "listMembers"),
  });
  if (!data || data.length === 0) return null;
  return (
    <section>
      <h2 className="text-small font-medium text-muted">Such as</h2>
      <ul className="mt-1 columns-1 gap-6 sm:columns-2">
        {data.map(({ subscriber_id, email }) => (
          <li key={subscriber_id} className="truncate py-0.5">
            <Link to={`/${workspace.id}/people/${subscriber_id}`} className="hover:underline">
              {email}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
