/** What an import would do, or did: the report of its job. */
import type { Schema } from "@posthaste/client";
import type { ReactNode } from "react";
import type { Job } from "../../api/jobs.ts";
import { counted, countText } from "../../parts/numbers.ts";

type Report = Schema<"ImportResult"> | Schema<"ImportDryRunResult">;

/** Null for a job of another kind, and before it has ended. */
export function readReport(job: Job): Report | null {
  return job.type === "subscriber_import" ? job.result : null;
}

export function ImportReport({ report }: { readonly report: Report }) {
  const { created, updated, unchanged, duplicates, invalid, warnings, written_in_part: part } = report;
  const trial = report.dry_run ? report : undefined;
  const optedOut = trial?.opted_out ?? 0;
  return (
    <div className="flex flex-col gap-5">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
        <Figure name="Join the list" count={created}>
          {trial === undefined || created === 0
            ? ""
            : `${countText(trial.new_to_workspace)} of them new to the workspace`}
        </Figure>
        <Figure name="Members, changed" count={updated} />
        <Figure name="Members, as they are" count={unchanged} />
        <Figure name="Refused rows" count={invalid} tone={invalid > 0 ? "text-bad" : ""}>
          {part > 0 ? `${countText(part)} more written in part` : ""}
        </Figure>
      </dl>
      <p className="text-muted">
        {counted(report.rows, "row")}.{" "}
        {optedOut > 0 && `${countText(optedOut)} get no mail, because the file says so. `}
        {duplicates > 0 && `${countText(duplicates)} repeat an address: the last row counts.`}
      </p>
      {warnings.length > 0 && (
        <section aria-label="Warnings">
          <ul className="flex flex-col gap-2">
            {warnings.map((text) => (
              <li key={text} className="border-l-2 border-warning px-3">
                {text}
              </li>
            ))}
          </ul>
        </section>
      )}
      {trial?.examples && <Examples examples={trial.examples} />}
    </div>
  );
}

function Figure({
  name,
  count,
  tone = "",
  children,
}: {
  readonly name: string;
  readonly count: number;
  readonly tone?: string;
  readonly children?: ReactNode;
}) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className={`text-figure font-semibold tracking-tight ${count === 0 ? "text-muted" : tone}`}>
        {countText(count)}
      </dd>
      <dd className="min-h-4 text-small text-muted">{children}</dd>
    </div>
  );
}

function Examples({ examples }: { readonly examples: Schema<"ImportExamples"> }) {
  const { refused, opted_out, known } = examples;
  return (
    <>
      {refused.length > 0 && (
        <Group title="First faults of rows">
          {refused.map(({ line, column, value, reason, written_as }) => (
            <Line key={`${line} ${column}`} line={line}>
              <span className="font-medium">{column}</span> {value && <q className="break-all">{value}</q>}:{" "}
              {reason}
              {written_as !== null && <span className="text-muted"> · written in part, as {written_as}</span>}
            </Line>
          ))}
        </Group>
      )}
      {opted_out.length > 0 && (
        <Group title="First of those who get no mail">
          {opted_out.map(({ line, email, status, column }) => (
            <Line key={line} line={line}>
              {email} · {status}
              {column && <span className="text-muted">, by the column {column}</span>}
            </Line>
          ))}
        </Group>
      )}
      {examples.new.length > 0 && (
        <Group title="First of those who join">
          {examples.new.map(({ line, email }) => (
            <Line key={line} line={line}>
              {email}
            </Line>
          ))}
        </Group>
      )}
      {known.length > 0 && (
        <Group title="First members">
          {known.map(({ line, email }) => (
            <Line key={line} line={line}>
              {email}
            </Line>
          ))}
        </Group>
      )}
    </>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-1 text-small font-medium text-muted">{title}</h3>
      <ul className="text-table">{children}</ul>
    </section>
  );
}

function Line({ line, children }: { readonly line: number; readonly children: ReactNode }) {
  return (
    <li className="flex gap-3 border-t border-line/60 py-1.5">
      <span className="w-20 shrink-0 text-muted">Line {countText(line)}</span>
      <span className="min-w-0 break-words">{children}</span>
    </li>
  );
}
