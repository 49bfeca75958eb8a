/** Findings of a check: made at offsets of a field, joined by what they are about, and sorted for people. */
import type { ContentFault } from "#sending/content/parse-content.ts";
import { type CheckFinding, type Severity, severities } from "./campaign-check.ts";

/** The answer has at most so many. */
const MOST_FINDINGS = 200;

/** A finding at an offset of the HTML as written; null for the whole. */
export interface PlacedFinding {
  readonly severity: Severity;
  readonly code: string;
  readonly at: number | null;
  readonly message: string;
  readonly fix: string | null;
  readonly url?: string;
  readonly mailPrograms?: readonly string[];
  /** How often it occurs; default: once. */
  readonly times?: number;
}

/** A finding about a field as a whole, or about the campaign when it is null. */
export function wholeFinding(
  severity: Severity,
  code: string,
  field: string | null,
  message: string,
  fix: string | null,
): CheckFinding {
  const nowhere = { line: null, column: null, occurrences: 1, url: null, mail_programs: null };
  return { severity, code, field, message, fix, ...nowhere };
}

/** A finding made of a fault, which names its field, and its position if it has one. */
export function faultFinding(
  severity: Severity,
  code: string,
  fault: Partial<ContentFault> & Pick<ContentFault, "message">,
): CheckFinding {
  const { field = null, line = null, column = null, message } = fault;
  return { ...wholeFinding(severity, code, field, message, null), line, column };
}

/** Findings in `html_content` with line and column; equal ones are joined into one with the position of the first. */
export function htmlFindings(html: string, placed: readonly PlacedFinding[]): CheckFinding[] {
  const joined = new Map<string, { readonly first: PlacedFinding; times: number }>();
  for (const finding of placed) {
    const key = `${finding.code} ${finding.message}`;
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { first: finding, times: finding.times ?? 1 });
    else known.times += 1;
  }
  const positionOf = positionsIn(html);
  return [...joined.values()].map(({ first, times }) => {
    const { severity, code, at, message, fix, url = null, mailPrograms } = first;
    const position = at === null ? { line: null, column: null } : positionOf(at);
    const rest = { occurrences: times, url, mail_programs: mailPrograms ? [...mailPrograms] : null };
    return { severity, code, field: "html_content", message, fix, ...position, ...rest };
  });
}

/** Gives line and column of an offset, from 1. */
export function positionsIn(text: string): (at: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - (starts[low] ?? 0) + 1 };
  };
}

/** The first findings by severity and position, and how many there are of each severity. */
export function sortFindings(findings: readonly CheckFinding[]): {
  readonly findings: CheckFinding[];
  readonly counts: Record<Severity, number>;
} {
  const rank = ({ severity }: CheckFinding) => severities.indexOf(severity);
  const sorted = findings.toSorted(
    (one, other) =>
      rank(one) - rank(other) ||
      (one.field ?? "").localeCompare(other.field ?? "") ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  );
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return { findings: sorted.slice(0, MOST_FINDINGS), counts };
}
