/** Takes an entry off a suppression list: at once with undo, or after the warning of the service. */
import parameters from "operation:deleteSuppressionEntry";
import type { Schema } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { offerUndo } from "../../parts/undo.tsx";

const { maxLength } = parameters.find(({ name }) => name === "reason") ?? {};

export interface RemovableEntry {
  readonly listId: string;
  readonly listName: string;
  readonly entryId: string;
  readonly value: string;
  readonly reason: Schema<"SuppressionEntry">["reason"];
  /** What to consider first; null if nothing. */
  readonly warning: string | null;
}

/** First words of the keys of the queries that show the entries of a list. */
export function changesOf(listId: string): readonly string[] {
  return ["findings", `entries ${listId}`, "suppression-list", "suppression-lists", "person"];
}

/** Entries that people made are the same when they are added again; the cause of the others would be lost. */
const isRepeatable: Readonly<Record<RemovableEntry["reason"], boolean>> = {
  manual: true,
  domain: true,
  hard_bounce: false,
  complaint: false,
};

export function RemoveEntry({
  entry,
  onRemoved,
}: {
  readonly entry: RemovableEntry;
  readonly onRemoved?: () => void;
}) {
  const { api, workspace } = usePlace();
  const { listId, listName, entryId, value, reason, warning } = entry;
  const [isAsking, setAsking] = useState(false);
  const [why, setWhy] = useState("");
  const changes = changesOf(listId);
  const restore = useAct({
    run: () => api.addSuppressionEntries({ id: listId, body: { entries: value } }),
    changes,
    done: `${value} is on ${listName} again`,
  });
  const remove = useAct({
    run: () =>
      api.deleteSuppressionEntry({
        id: listId,
        entry_id: entryId,
        ...(why.trim() !== "" && { query: { reason: why.trim() } }),
      }),
    changes,
    done: `${value} is off ${listName}`,
    onDone: () => {
      setAsking(false);
      if (isRepeatable[reason]) offerUndo(`${value} is off ${listName}`, () => restore.mutate());
      onRemoved?.();
    },
  });
  if (!mayCall(workspace, "deleteSuppressionEntry")) return null;
  return (
    <>
      <Button
        aria-label={`Remove ${value} from ${listName}`}
        onPress={() => (warning === null ? remove.mutate() : setAsking(true))}
        isPending={remove.isPending}
      >
        Remove
      </Button>
      {remove.error && !isAsking && <Failure error={remove.error} />}
      {isAsking && (
        <Question
          title={`Let ${value} get mail again?`}
          isOpen
          onClose={() => setAsking(false)}
          act="Remove from the list"
          onConfirm={() => remove.mutate()}
          isPending={remove.isPending}
          error={remove.error}
        >
          <p>{warning}</p>
          <p className="mt-2">
            The entry leaves the list {listName}. A state of bounced or complained stays on the mailing lists
            until it is changed there.
          </p>
          <div className="mt-4">
            <Field
              label="Why (optional)"
              hint="The audit log keeps it."
              value={why}
              onChange={setWhy}
              {...(maxLength !== undefined && { maxLength })}
            />
          </div>
        </Question>
      )}
    </>
  );
}
