/** The result of the lines that were added: how many hold now, were there already, or were refused, and which. */
import type { Data } from "@posthaste/client";
import { Button } from "../../parts/button.tsx";
import { CountLines } from "../../parts/count-lines.tsx";
import { Dialog } from "../../parts/dialog.tsx";

interface Props {
  readonly title: string;
  readonly result: Data<"addSuppressionEntries">;
  readonly onClose: () => void;
}

export function AddedEntries({ title, result, onClose }: Props) {
  const rows = [
    ["added", result.added],
    ["were there already", result.duplicates],
    ["refused: neither an address nor a domain", result.invalid],
  ] as const;
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <CountLines rows={rows} />
      {result.invalid > 0 && <p className="mt-3 break-words text-muted">{result.message}</p>}
      {result.warnings?.map((warning) => (
        <p key={warning} className="mt-2 text-warning">
          {warning}
        </p>
      ))}
      <div className="mt-6 flex justify-end">
        <Button kind="primary" onPress={onClose} autoFocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
