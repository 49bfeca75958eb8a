/** What the check found, each with what to do and the way to its place. */
import { CircleAlert, Info, type LucideIcon, TriangleAlert } from "lucide-react";
import { Button } from "../../../parts/button.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Time } from "../../../parts/time.tsx";
import { fieldNames } from "./draft.ts";
import type { Check } from "./to-step.tsx";

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

export function Findings({
  check,
  isChecking,
  onJump,
}: {
  readonly check: Check;
  readonly isChecking: boolean;
  readonly onJump: (finding: Finding) => void;
}) {
  const { findings, counts, unchecked, spam, checked_at } = check;
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
              Checked <Time at={checked_at} />
            </>
          )}
        </span>
      </div>
      <ul>
        {findings.map((finding, index) => (
          <FindingRow key={`${finding.code} ${index.toString()}`} finding={finding} onJump={onJump} />
        ))}
      </ul>
      {more > 0 && <p className="py-2 text-muted">and {more} more of the same kinds</p>}
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
  readonly onJump: (finding: Finding) => void;
}) {
  const { severity, message, fix, field, line, column, occurrences, mail_programs } = finding;
  const { icon: Icon, tone, name } = looks[severity];
  const place = (fieldNames as Readonly<Record<string, string>>)[field ?? ""];
  return (
    <li className="flex items-start gap-3 border-t border-line/60 py-2">
      <Icon size={15} aria-label={name} className={`mt-0.5 shrink-0 ${tone}`} />
      <div className="min-w-0 flex-1 break-words">
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
      {place && (
        <Button kind="quiet" className="-my-1 text-accent!" onPress={() => onJump(finding)}>
          {place}
          {line !== null && ` ${line}:${column ?? 1}`}
        </Button>
      )}
    </li>
  );
}
