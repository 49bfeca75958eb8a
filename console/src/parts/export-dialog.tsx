/** An export: a dialog says what the file has and asks which rows; the page shows the job that writes it. */
import { type ReactNode, useState } from "react";
import { useAct } from "../api/act.ts";
import { ActForm, FormActs } from "./act-form.tsx";
import { Dialog } from "./dialog.tsx";
import type { StartedJob } from "./job-line.tsx";
import { RadioCards } from "./radio-cards.tsx";

interface Props {
  readonly title: string;
  /** "Export Customers": names the job. */
  readonly name: string;
  /** What the file has. */
  readonly about: string;
  readonly plural: string;
  /** The filter of the rows on the page as people read it; empty where none is set. */
  readonly filter: string;
  /** @param isFiltered whether only the rows of the filter are wanted */
  readonly run: (isFiltered: boolean) => Promise<{ readonly job_id: string }>;
  readonly onStarted: (job: StartedJob) => void;
  readonly onClose: () => void;
  /** Fields that come before the rows. */
  readonly children?: ReactNode;
}

type Rows = "these" | "all";

export function ExportDialog(props: Props) {
  const { title, name, about, plural, filter, run, onStarted, onClose, children } = props;
  const [rows, setRows] = useState<Rows>("these");
  const start = useAct({
    run: () => run(filter !== "" && rows === "these"),
    changes: ["jobs"],
    done: "The export has begun",
    onDone: ({ job_id }) => {
      onStarted({ id: job_id, name });
      onClose();
    },
  });
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <ActForm act={start} onSubmit={() => start.mutate()}>
        <p className="text-muted">{about} The file can be downloaded for seven days.</p>
        {children}
        {filter !== "" && (
          <RadioCards
            label="Rows"
            options={[
              { id: "these", name: `These ${plural}`, description: filter },
              { id: "all", name: `All ${plural}`, description: "Without the filter" },
            ]}
            value={rows}
            onChange={(id) => setRows(id as Rows)}
          />
        )}
        <FormActs act={start} onCancel={onClose}>
          Export
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
