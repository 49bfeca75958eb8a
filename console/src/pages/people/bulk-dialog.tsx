/** An act on many people: what it needs, then how many it would change, counted by the service, then the act. */

import type { Job } from "@posthaste/client";
import { useEffect, useRef, useState } from "react";
import { useAct } from "../../api/act.ts";
import { type MailingList, useLists } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { CountLines } from "../../parts/count-lines.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import type { StartedJob } from "../../parts/job-line.tsx";
import { counted, countText } from "../../parts/numbers.ts";
import { Refusal } from "../../parts/refusal.tsx";
import { type BulkAction, type BulkBody, type BulkTarget, bulkActs } from "./bulk-acts.tsx";
import { BulkNeeds, firstNeeds, isComplete } from "./bulk-needs.tsx";

interface Props {
  readonly action: BulkAction;
  readonly target: BulkTarget;
  /** Whom it is for, in words. */
  readonly people: string;
  /** The list that all chosen people are on, if the filter says so. */
  readonly listId: string | undefined;
  readonly onStarted: (job: StartedJob) => void;
  readonly onClose: () => void;
}

/** Above this the number is typed before what cannot be undone. */
const TYPED_ABOVE = 1_000;

export function BulkDialog({ action, target, people, listId, onStarted, onClose }: Props) {
  const { api } = usePlace();
  const { verb, isDanger = false } = bulkActs[action];
  const [needs, setNeeds] = useState(() => firstNeeds(action, listId));
  const name = nameOf(action, needs, useLists() ?? []);
  const [typed, setTyped] = useState("");
  const [isAsked, setAsked] = useState(false);
  const body: BulkBody = { action, ...target, ...needs, label: name };
  const waiting = useRef<AbortController>(undefined);
  useEffect(() => () => waiting.current?.abort(), []);
  const trial = useAct({
    run: async () => {
      const { job_id } = await api.runBulkAction({
        body: { ...body, label: `Count: ${name}`, dry_run: true },
      });
      waiting.current = new AbortController();
      return api.waitForJob(job_id, { signal: waiting.current.signal });
    },
    changes: [],
    done: (job) => outcomeOf(job),
  });
  const run = useAct({
    run: () => api.runBulkAction({ body }),
    changes: [],
    done: `${name}: it has begun`,
    onDone: ({ job_id }) => {
      onStarted({ id: job_id, name });
      onClose();
    },
  });
  const counts = trial.data;
  const changed = counts?.succeeded ?? 0;
  const isTyped = !isDanger || changed <= TYPED_ABOVE || typed === String(changed);
  return (
    <Dialog title={`${bulkActs[action].name}: ${people}`} isOpen onClose={onClose}>
      <ActForm
        act={run.error ? run : trial}
        onSubmit={() => {
          if (counts === undefined) {
            if (isComplete(action, needs)) trial.mutate();
            else setAsked(true);
          } else if (isTyped) run.mutate();
          else setAsked(true);
        }}
      >
        <BulkNeeds
          action={action}
          listId={listId}
          needs={needs}
          onChange={(next) => {
            setNeeds(next);
            setAsked(false);
            trial.reset();
          }}
        />
        {isAsked && counts === undefined && (
          <p role="alert" className="text-small text-bad">
            Choose first what is to be done.
          </p>
        )}
        {counts && <Outcome name={name} job={counts} isDanger={isDanger} />}
        {counts && isDanger && changed > TYPED_ABOVE && (
          <Field
            label={`Type ${changed} to confirm`}
            value={typed}
            onChange={setTyped}
            isInvalid={isAsked && !isTyped}
            errorMessage="The number differs from what is typed."
          />
        )}
        <Refusal error={trial.error ?? run.error} />
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          {counts === undefined ? (
            <Button key="count" type="submit" kind="primary" isPending={trial.isPending}>
              {trial.isPending ? "Counting …" : "Count first"}
            </Button>
          ) : (
            changed > 0 && (
              <Button
                key="run"
                type="submit"
                kind={isDanger ? "danger" : "primary"}
                isPending={run.isPending}
              >
                {`${verb} ${counted(changed, "person", "people")}`}
              </Button>
            )
          )}
        </div>
      </ActForm>
    </Dialog>
  );
}

/** The act with what it is about: "Add to Customers". */
function nameOf(action: BulkAction, needs: Partial<BulkBody>, lists: readonly MailingList[]): string {
  const { name } = bulkActs[action];
  const list = lists.find(({ id }) => id === needs.mailing_list_id)?.name;
  if (action === "set_status" && needs.status) return `Set to ${needs.status}${list ? ` on ${list}` : ""}`;
  if (action === "set_field" && needs.field) return `Set ${needs.field}`;
  return list ? name.replace("a list", list) : name;
}

/** What the service counted. */
function Outcome({
  name,
  job,
  isDanger,
}: {
  readonly name: string;
  readonly job: Job;
  readonly isDanger: boolean;
}) {
  if (job.status !== "completed") {
    return (
      <p role="alert" className="text-bad">
        {job.error ?? `The count is ${job.status}.`}
      </p>
    );
  }
  const rows = [
    ["will be changed", job.succeeded],
    ["are so already", job.skipped],
    ["cannot be changed", job.failed],
  ] as const;
  return (
    <div className="rounded-control bg-sunken px-4 py-3">
      <p className="mb-1 font-medium break-words">{name}</p>
      <CountLines rows={rows} />
      {isDanger && <p className="mt-2 text-bad">This cannot be undone.</p>}
    </div>
  );
}

function outcomeOf({ succeeded, skipped, failed }: Job): string {
  return `${countText(succeeded)} will be changed, ${countText(skipped)} are so already, ${countText(failed)} cannot be changed`;
}
