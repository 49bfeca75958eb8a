/** New recovery codes, once: to copy, or as a file. */
import { Download } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { saveFile } from "../../parts/save-file.ts";

interface Props {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function RecoveryCodes({ codes, onClose }: Props) {
  const text = codes.join("\n");
  return (
    // Only the button closes it: the codes must not be lost by a click beside it.
    <Dialog title="Your recovery codes" isOpen onClose={() => {}}>
      <div className="flex flex-col gap-4">
        <p className="text-muted">
          Each lets you in once when you cannot use your second factor. They are shown only now: keep them
          apart from your password.
        </p>
        <CodeBlock label="recovery codes" text={text} />
        <div className="flex justify-end gap-2">
          <Button
            onPress={() =>
              saveFile("posthaste-recovery-codes.txt", new Blob([`${text}\n`], { type: "text/plain" }))
            }
          >
            <Download size={15} aria-hidden /> Download
          </Button>
          <Button kind="primary" onPress={onClose}>
            I have kept them
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
