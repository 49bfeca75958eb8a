/** Acts on the recipients that the filter leaves: a file of them, a segment of them, a mail to the rest. */
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { ActMenu } from "../../../parts/act-menu.tsx";
import { ExportDialog } from "../../../parts/export-dialog.tsx";
import type { StartedJob } from "../../../parts/job-line.tsx";
import { exportFilter, type FilterWords, filterText } from "./recipient-filter.ts";
import { RestDialog } from "./rest-dialog.tsx";
import { SegmentDialog } from "./segment-dialog.tsx";

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly filter: FilterWords;
  readonly onStarted: (job: StartedJob) => void;
}

export function RecipientActs({ campaign, filter, onStarted }: Props) {
  const { api, workspace } = usePlace();
  const [open, setOpen] = useState<"export" | "segment" | "rest">();
  const close = () => setOpen(undefined);
  const maySegment = mayCall(workspace, "createSegmentFromCampaign");
  const acts = [
    ...(mayCall(workspace, "exportCampaignRecipients")
      ? [{ name: "Export as CSV …", run: () => setOpen("export") }]
      : []),
    ...(maySegment ? [{ name: "Make a segment …", run: () => setOpen("segment") }] : []),
    ...(maySegment && mayCall(workspace, "duplicateCampaign")
      ? [{ name: "Send to those who did not open …", run: () => setOpen("rest") }]
      : []),
  ];
  return (
    <>
      <ActMenu label="Acts on the recipients" acts={acts} />
      {open === "export" && (
        <ExportDialog
          title="Export recipients"
          name={`Export the recipients of ${campaign.name}`}
          about="A CSV file with a row for each recipient: the state of the message, and when the person opened, clicked and unsubscribed."
          plural="recipients"
          filter={filterText(filter)}
          run={(isFiltered) =>
            api.exportCampaignRecipients({
              id: campaign.id,
              body: { ...(isFiltered && exportFilter(filter)), label: campaign.name },
            })
          }
          onStarted={onStarted}
          onClose={close}
        />
      )}
      {open === "segment" && <SegmentDialog campaign={campaign} filter={filter} onClose={close} />}
      {open === "rest" && <RestDialog campaign={campaign} onClose={close} />}
    </>
  );
}
