/** What the check found, each with what to do and the way to its place. */
import type { Data } from "@posthaste/client";
import { CircleAlert, Info, type LucideIcon, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/numbers.ts";
import { Time } from "../../parts/time.tsx";
import { fieldNames } from "./editor/draft.ts";
import { pastOf } from "./times.ts";

export type Check = Data<"checkCampaign">;
export type Finding = Check["findings"][number];

const looks: Readonly<
  Record<Finding["severity"], { readonly icon: LucideIcon; readonly tone: string; readonly name: string }>
> = {
  error: { icon: CircleAlert, tone: "text-bad", name: "To fix" },
  warning: { icon: TriangleAlert, tone: "text-warning", name: "To look at" },
  info: { icon: Info, tone: "text-info", name: "Good to know" },
};

/** Such as "2 to fix, 3 to look at". */
export function countsText({ error, warning, info }: Check["counts"]): string {
  const parts = [
    error > 0 && `${error} to fix`,
    warning > 0 && `${warning} to look at`,
    error + warning === 0 && (info > 0 ? `${info} good to know` : "Nothing to fix"),
  ];
  return parts.filter(Boolean).join(", ");
}

interface Props {
  readonly check: Check;
  readonly isChecking: boolean;
  /** Leads to the place of a finding in the draft; undefined for those who only read it. */
  readonly onJump: ((finding: Finding) => void) | undefined;
  /** How many are shown at first; the worst are the first. */
  readonly most?: number;
}

export function Findings({ check, isChecking, onJump, most = Number.POSITIVE_INFINITY }: Props) {
  const { findings, counts, unchecked, spam, checked_at } = check;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? findings : findings.slice(0, most);
  const more = counts.error + counts.warning + counts.info - findings.length;
  return (
    <section aria-label="Check" aria-busy={isChecking}>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3">
        <h2 className="text-[15px] font-semibold">{countsText(counts)}</h2>
        <span className="text-small text-muted">
          {isChecking ? (
            "Checking …"
          ) : (
            <>
              Checked <Time at={pastOf(checked_at)} />
            </>
          )}
        </span>
      </div>
      <ul>
        {shown.map((finding, index) => (
          <FindingRow key={`${finding.code} ${index.toString()}`} finding={finding} onJump={onJump} />
        ))}
      </ul>
      {findings.length > most && (
        <Button kind="quiet" className="-ml-3 text-accent!" onPress={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${findings.length}`}
        </Button>
      )}
      {more > 0 && shown.length === findings.length && (
        <p className="py-2 text-muted">and {more} more of the same kinds</p>
      )}
      {spam && (
        <p className="py-2">
          Spam score {spam.score} of {spam.threshold}
          {spam.is_spam ? ": a filter takes it for spam." : "."}
        </p>
      )}
      {unchecked.map(({ part, reason }) => (
        <p key={part} className="py-1 text-small text-muted">
          Not checked: {part.replaceAll("_", " ")}. {reason}
        </p>
      ))}
    </section>
  );
}

function FindingRow({
  finding,
  onJump,
}: {
  readonly finding: Finding;
  readonly onJump: ((finding: Finding) => void) | undefined;
}) {
  const { severity, message, fix, field, line, column, occurrences, mail_programs } = finding;
  const { icon: Icon, tone, name } = looks[severity];
  const place = (fieldNames as Readonly<Record<string, string>>)[field ?? ""];
  const target = line === null ? place : `${place} ${line}:${column ?? 1}`;
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 sm:flex-nowrap border-t border-line/60 py-2">
      <Icon size={15} aria-label={name} className={`mt-0.5 shrink-0 ${tone}`} />
      <div className="min-w-[70%] flex-1 break-words sm:min-w-0">
        <p>
          {message}
          {occurrences > 1 && <span className="text-muted"> {occurrences} times.</span>}
        </p>
        {fix && <p className="text-muted">{fix}</p>}
        {mail_programs && mail_programs.length > 0 && (
          <details className="text-small text-muted">
            <summary className="w-fit cursor-default rounded">
              {counted(mail_programs.length, "mail program")}
            </summary>
            {mail_programs.join(", ")}
          </details>
        )}
      </div>
      {place && onJump && (
        <Button
          kind="quiet"
          className="-my-1 text-accent! max-sm:ml-4"
          onPress={() => onJump(finding)}
          aria-label={`${target}, ${message}`}
        >
          {target}
        </Button>
      )}
    </li>
  );
}
