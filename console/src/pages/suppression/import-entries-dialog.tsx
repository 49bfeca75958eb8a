/** Puts the addresses and domains of a file on a suppression list, all or nothing. */
import { useState } from "react";
import { Button as AriaButton, DropZone, FileTrigger, Text } from "react-aria-components";
import { useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import type { SuppressionList } from "../../api/suppression.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { AddedEntries } from "./added-entries.tsx";
import { changesOf } from "./remove-entry.tsx";

export function ImportEntriesDialog({
  list,
  onClose,
}: {
  readonly list: SuppressionList;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const [file, setFile] = useState<File>();
  const load = useAct({
    run: (csvFile: File) => api.importSuppressionEntries({ id: list.id, body: { csvFile } }),
    changes: changesOf(list.id),
    done: ({ message }) => message,
  });
  if (load.data)
    return <AddedEntries title={`Imported into ${list.name}`} result={load.data} onClose={onClose} />;
  return (
    <Dialog title={`Import into ${list.name}`} isOpen onClose={onClose}>
      <DropZone
        onDrop={({ items }) => {
          const dropped = items.find((item) => item.kind === "file");
          if (dropped?.kind === "file") void dropped.getFile().then(setFile);
        }}
        className="grid place-items-center gap-2 rounded-control border border-dashed border-control px-4 py-8 text-center data-[drop-target]:border-accent data-[drop-target]:bg-selected"
      >
        <Text slot="label">{file ? file.name : "Drop a CSV or text file here"}</Text>
        <FileTrigger onSelect={(files) => setFile(files?.[0])}>
          <AriaButton className="h-8 rounded-control border border-control/60 px-3 font-medium hover:bg-sunken">
            {file ? "Choose another" : "Choose a file"}
          </AriaButton>
        </FileTrigger>
      </DropZone>
      <p className="mt-3 text-small text-muted">
        One address or domain a row. In a table, the column with the addresses is found by its name or its
        cells.
      </p>
      {load.error && (
        <div className="mt-3">
          <Failure error={load.error} />
        </div>
      )}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={onClose}>Cancel</Button>
        {file && (
          <Button kind="primary" onPress={() => load.mutate(file)} isPending={load.isPending}>
            Import
          </Button>
        )}
      </div>
    </Dialog>
  );
}
