/** Conditions of this campaign alone: the people of a list who meet rules that are written here. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listsQuery } from "../../../api/lists.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Picker } from "../../../parts/picker.tsx";
import { draftOf, readDraft, type SegmentDraft } from "../../../parts/segment-builder/draft.ts";
import { useConditions, useSegmentFields } from "../../../parts/segment-builder/queries.ts";
import { SegmentBuilder } from "../../../parts/segment-builder/segment-builder.tsx";
import { SegmentCount } from "../../../parts/segment-builder/segment-count.tsx";
import { isSame } from "./differences.ts";
import type { Draft } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

type Audience = Pick<Draft, "mailing_list_id" | "segment_id" | "segment_conditions">;

export function ConditionsChoice({ draft, edit }: Pick<OpenDraft, "draft" | "edit">) {
  const { data: lists, error, refetch } = useQuery(listsQuery(usePlace()));
  const saved = draft.segment_id === null ? draft.segment_conditions : null;
  const [chosenId, setChosenId] = useState(draft.mailing_list_id);
  const listId = saved === null ? chosenId : draft.mailing_list_id;
  // Counts the conditions that were not written here: autosave takes over those of another tab or person.
  const [own, setOwn] = useState({ conditions: saved, version: 0 });
  if (!isSame(own.conditions, saved)) setOwn({ conditions: saved, version: own.version + 1 });
  if (draft.segment_conditions !== null && draft.mailing_list_id === null)
    return <OfAnyList count={draft.segment_conditions.rules.length} edit={edit} />;
  if (error && lists === undefined) return <Failure error={error} onRetry={() => void refetch()} />;
  if (lists === undefined) return <div className="h-15" />;
  return (
    <>
      <Picker
        label="Among the people of"
        placeholder="Choose a list …"
        value={listId}
        onChange={(id) => {
          setChosenId(id);
          if (draft.segment_conditions !== null) edit({ mailing_list_id: id });
        }}
        options={lists.map(({ id, name, subscriber_count }) => ({
          id,
          name,
          description: counted(subscriber_count, "active member"),
        }))}
      />
      {listId !== null && (
        <Rules
          key={`${listId} ${own.version}`}
          listId={listId}
          listName={lists.find(({ id }) => id === listId)?.name ?? "the list"}
          saved={saved}
          onChange={(segment_conditions) => {
            setOwn({ ...own, conditions: segment_conditions });
            setChosenId(listId);
            edit({
              // Without a rule it would go to the whole list, which was not chosen.
              mailing_list_id: segment_conditions === null ? null : listId,
              segment_id: null,
              segment_conditions,
            });
          }}
        />
      )}
    </>
  );
}

/** The campaign has the rules as they were when all of them were finished, so that a half-written rule reaches no one. */
function Rules({
  listId,
  listName,
  saved,
  onChange,
}: {
  readonly listId: string;
  readonly listName: string;
  readonly saved: Audience["segment_conditions"];
  readonly onChange: (conditions: Audience["segment_conditions"]) => void;
}) {
  const [rules, setRules] = useState(() => draftOf(saved ?? undefined));
  const fields = useSegmentFields(listId).data;
  const read = useConditions(listId, rules);
  const change = (next: SegmentDraft) => {
    setRules(next);
    if (fields === undefined) return;
    const { conditions, unfinished } = readDraft(next, fields);
    // An empty rule that is removed ends nothing: another audience stays until there are conditions.
    if (conditions === undefined && saved === null) return;
    if (unfinished === 0) onChange(conditions ?? null);
  };
  return (
    <>
      <SegmentBuilder listId={listId} listName={listName} value={rules} onChange={change} />
      {read !== undefined && read.unfinished > 0 && (
        <p role="status" className="border-l-2 border-warning px-3">
          {saved === null
            ? "The campaign has these conditions as soon as each rule is finished."
            : "Until each rule is finished, the campaign has the conditions as they were before."}
        </p>
      )}
      <section aria-label="Who meets the conditions">
        <SegmentCount listId={listId} value={rules} />
      </section>
    </>
  );
}

function OfAnyList({ count, edit }: { readonly count: number; readonly edit: OpenDraft["edit"] }) {
  return (
    <p>
      The people of any list who meet {counted(count, "condition")} of this campaign alone.{" "}
      <Button kind="quiet" onPress={() => edit({ segment_conditions: null })}>
        Remove the conditions
      </Button>
    </p>
  );
}
