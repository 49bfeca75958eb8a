/** What the check found, the worst first, each with the way back to its place in the draft. */
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { counted } from "../../../parts/numbers.ts";

type Check = Data<"checkCampaign">;
export type Finding = Check["findings"][number];
type Severity = Finding["severity"];

const looks: Readonly<Record<Severity, { readonly shape: string; readonly tone: string }>> = {
  error: { shape: "▲", tone: "text-bad" },
  warning: { shape: "◐", tone: "text-warning" },
  info: { shape: "○", tone: "text-muted" },
};

const SHOWN = 4;

interface Props {
  readonly check: Check | undefined;
  readonly hasFailed: boolean;
  readonly onFinding: (finding: Finding) => void;
}

export function CheckFindings({ check, hasFailed, onFinding }: Props) {
  const [isWhole, setWhole] = useState(false);
  if (!check) return <p className="text-muted">{hasFailed ? "Did not run" : "Reading the mail …"}</p>;
  const { counts, findings, unchecked } = check;
  const shown = isWhole ? findings : findings.slice(0, SHOWN);
  return (
    <div>
      <p>
        {counts.error + counts.warning === 0
          ? "Nothing to fix"
          : [
              counts.error > 0 && `${counts.error} to fix`,
              counts.warning > 0 && `${counts.warning} to look at`,
            ]
              .filter(Boolean)
              .join(", ")}
      </p>
      <ul className="mt-1">
        {shown.map((finding, index) => (
          <FindingLine
            key={`${finding.code} ${index.toString()}`}
            finding={finding}
            onGo={() => onFinding(finding)}
          />
        ))}
      </ul>
      {findings.length > SHOWN && (
        <Button kind="quiet" className="-ml-3 text-accent" onPress={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${findings.length}`}
        </Button>
      )}
      {unchecked.map(({ part, reason }) => (
        <p key={part} className="text-small text-muted">
          {reason}
        </p>
      ))}
    </div>
  );
}

function FindingLine({ finding, onGo }: { readonly finding: Finding; readonly onGo: () => void }) {
  const { severity, message, fix, field, line, occurrences } = finding;
  const { shape, tone } = looks[severity];
  return (
    <li className="flex items-start gap-2 border-t border-line/60 py-1.5 first:border-0">
      <span aria-hidden className={`${tone} w-3 pt-0.5 text-[10px]`}>
        {shape}
      </span>
      <span className="min-w-0 flex-1">
        <span className="sr-only">{severity}: </span>
        {message}
        {occurrences > 1 && <span className="text-muted"> {counted(occurrences, "time")}.</span>}
        {fix && <span className="block text-small text-muted">{fix}</span>}
      </span>
      {field && (
        <Button kind="quiet" onPress={onGo} aria-label={`Go to ${field}: ${message}`}>
          {line === null ? "Go there" : `Line ${line}`}
        </Button>
      )}
    </li>
  );
}
