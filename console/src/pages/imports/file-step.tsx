/** Step 1: a file, dropped or chosen. */
import { FileUp } from "lucide-react";
import { useState } from "react";
import { DropZone, FileTrigger } from "react-aria-components";
import { Button } from "../../parts/button.tsx";
import { sizeText } from "./file-words.ts";
import { limitText, mostBytes } from "./limits.ts";

interface Props {
  readonly current: File | undefined;
  readonly onFile: (file: File) => void;
  /** Goes on with the file that was chosen before. */
  readonly onKeep: () => void;
}

export function FileStep({ current, onFile, onKeep }: Props) {
  const [fault, setFault] = useState<string>();
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const wrong = faultOf(file);
    setFault(wrong);
    if (wrong !== undefined) return;
    try {
      await file.slice(0, 1).arrayBuffer();
      onFile(file);
    } catch {
      setFault(`${file.name} cannot be read from this computer any more. Choose it again.`);
    }
  };
  return (
    <>
      <DropZone
        aria-label="Drop a file"
        getDropOperation={() => "copy"}
        onDrop={({ items }) => {
          const dropped = items.find((item) => item.kind === "file");
          if (dropped?.kind === "file") void dropped.getFile().then(take);
        }}
        className="flex flex-col items-center gap-3 rounded-panel border border-dashed border-control px-6 py-14 text-center data-[drop-target]:border-accent data-[drop-target]:bg-selected data-[focus-visible]:outline-2 data-[focus-visible]:outline-accent"
      >
        <FileUp size={28} aria-hidden className="text-muted" />
        <p className="text-[15px] font-medium">Drop a CSV file here</p>
        <FileTrigger
          acceptedFileTypes={[".csv", ".tsv", ".txt", "text/csv"]}
          onSelect={(files) => void take(files?.[0])}
        >
          <Button kind="primary">Choose a file</Button>
        </FileTrigger>
        <p className="max-w-md text-muted">
          {limitText} Commas, semicolons or tabs, in any encoding. Only the first rows are sent before the
          trial run.
        </p>
      </DropZone>
      {fault && (
        <p role="alert" className="mt-3 text-bad">
          {fault}
        </p>
      )}
      {current && (
        <p className="mt-4 flex flex-wrap items-center gap-3">
          <span className="text-muted">
            Chosen: <span className="text-text">{current.name}</span>, {sizeText(current.size)}
          </span>
          <Button onPress={onKeep}>Go on with it</Button>
        </p>
      )}
    </>
  );
}

function faultOf({ name, size }: File): string | undefined {
  if (size === 0) return `${name} is empty.`;
  if (size > mostBytes)
    return `${name} has ${sizeText(size)}, and a file may have ${sizeText(mostBytes)}. Split it into several files.`;
  return undefined;
}
