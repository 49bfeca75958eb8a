/** "This page as API calls": the requests that the open page made, as commands to copy. */
import { useState } from "react";
import { callLog, curlOf, type LoggedCall } from "../api/call-log.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useKeys } from "../parts/keys.ts";

export function CallsSheet() {
  const [calls, setCalls] = useState<readonly LoggedCall[]>();
  useKeys({
    ".": { name: "This page as API calls", group: "Everywhere", run: () => setCalls(callLog.calls) },
  });
  return (
    <Dialog
      title="This page as API calls"
      isOpen={calls !== undefined}
      onClose={() => setCalls(undefined)}
      isWide
    >
      <p className="mb-4 text-muted">
        The console calls the public API only. With an API key in <code className="font-mono">$KEY</code>{" "}
        these commands do the same.
      </p>
      {calls?.length === 0 && <p className="text-muted">This page has made no call.</p>}
      <ul className="flex flex-col gap-3">
        {calls?.map((call) => (
          <li key={`${call.method} ${call.path} ${call.body ?? ""}`}>
            <CodeBlock text={curlOf(call, location.origin)} label="command" />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
