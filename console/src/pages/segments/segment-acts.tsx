/** The further acts of a saved segment: duplicate, export, delete. */
import type { Schema } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Question } from "../../parts/dialog.tsx";
import { ExportDialog } from "../../parts/export-dialog.tsx";
import { JobLine, type StartedJob } from "../../parts/job-line.tsx";
import { UsersBeforeDeletion } from "../lists/used-by.tsx";

export function SegmentActs({ segment }: { readonly segment: Schema<"SegmentInUse"> }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const [job, setJob] = useState<StartedJob>();
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
      ? [{ name: "Export its people …", run: () => setExporting(true) }]
      : []),
    ...(mayCall(workspace, "deleteSegment")
      ? [{ name: "Delete", run: () => setDeleting(true), isDanger: true }]
      : []),
  ];
  return (
    <>
      <ActMenu label="More acts" acts={acts} />
      {isDeleting && <DeleteSegment segment={segment} onClose={() => setDeleting(false)} />}
      {isExporting && (
        <ExportDialog
          title={`Export ${segment.name}`}
          name={`Export ${segment.name}`}
          about="A CSV file with address, names, state, times and custom fields of the people of the segment."
          plural="people"
          filter=""
          run={() =>
            api.exportSubscribers({
              id: segment.mailing_list_id,
              body: { segment_id: segment.id, label: segment.name },
            })
          }
          onStarted={setJob}
          onClose={() => setExporting(false)}
        />
      )}
      {job && <JobLine key={job.id} job={job} changes={["jobs"]} onClose={() => setJob(undefined)} />}
    </>
  );
}

function DeleteSegment({
  segment,
  onClose,
}: {
  readonly segment: Schema<"SegmentInUse">;
  readonly onClose: () => void;
}) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
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
      <UsersBeforeDeletion usedBy={segment.used_by} />
    </Question>
  );
}
