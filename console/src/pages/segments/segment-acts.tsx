/** The further acts of a saved segment: duplicate, export, delete. */
import type { Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { useSegmentUses } from "./uses.ts";

export function SegmentActs({ segment }: { readonly segment: Schema<"Segment"> }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  // An export is a job: the page of jobs has its file.
  const start = useAct({
    run: () =>
      api.exportSubscribers({
        id: segment.mailing_list_id,
        body: { segment_id: segment.id, label: segment.name },
      }),
    changes: ["jobs"],
    done: "The export has started",
    onDone: ({ job_id }) => void navigate({ to: `/${workspace.id}/jobs`, search: { open: job_id } as never }),
  });
  const listPath = `/${workspace.id}/lists/${segment.mailing_list_id}`;
  const acts = [
    ...(mayCall(workspace, "createSegment")
      ? [
          {
            name: "Duplicate",
            run: () =>
              void navigate({ to: `${listPath}/segments/new`, search: { copy: segment.id } as never }),
          },
        ]
      : []),
    ...(mayCall(workspace, "exportSubscribers")
      ? [{ name: "Export its people", run: () => start.mutate() }]
      : []),
    ...(mayCall(workspace, "deleteSegment")
      ? [{ name: "Delete", run: () => setDeleting(true), isDanger: true }]
      : []),
  ];
  return (
    <>
      <ActMenu label="More acts" acts={acts} />
      {isDeleting && <DeleteSegment segment={segment} onClose={() => setDeleting(false)} />}
      <Dialog title="The export did not start" isOpen={start.isError} onClose={start.reset}>
        <Failure error={start.error} onRetry={() => start.mutate()} />
      </Dialog>
    </>
  );
}

function DeleteSegment({
  segment,
  onClose,
}: {
  readonly segment: Schema<"Segment">;
  readonly onClose: () => void;
}) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const { uses } = useSegmentUses(segment.id);
  const remove = useAct({
    run: () => api.deleteSegment({ id: segment.mailing_list_id, segment_id: segment.id }),
    changes: ["segments"],
    done: `The segment ${segment.name} is deleted`,
    onDone: () => void navigate({ to: `/${workspace.id}/segments`, ignoreBlocker: true }),
  });
  return (
    <Question
      title={`Delete the segment ${segment.name}?`}
      isOpen
      onClose={onClose}
      act="Delete the segment"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      <p>Its rules are lost. The people stay on {segment.mailing_list_name}.</p>
      {uses.length > 0 && (
        <>
          <p className="mt-3 text-text">It cannot be deleted while these use it:</p>
          <ul className="mt-1">
            {uses.map(({ kind, name, to }) => (
              <li key={to}>
                The {kind}{" "}
                <PlaceLink to={to} className="text-accent underline">
                  {name}
                </PlaceLink>
              </li>
            ))}
          </ul>
        </>
      )}
    </Question>
  );
}
