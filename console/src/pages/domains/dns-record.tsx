/** One DNS record: what to publish, each part with a button to copy it, beside what is published, with the differing part marked. */
import type { Schema } from "@posthaste/client";
import type { ReactNode } from "react";
import { Copyable } from "../../parts/copyable.tsx";
import { type Look, StateMark } from "../../parts/state-mark.tsx";

type Status = Schema<"DnsCheck">["status"];

const looks: Readonly<Record<Status, Look & { readonly word: string }>> = {
  verified: { shape: "●", tone: "text-good", word: "published" },
  missing: { shape: "○", tone: "text-warning", word: "missing" },
  mismatch: { shape: "▲", tone: "text-bad", word: "differs" },
  error: { shape: "▲", tone: "text-warning", word: "not known" },
};

export function DnsState({ status }: { readonly status: Status }) {
  return <StateMark {...looks[status]} />;
}

interface Props {
  readonly type: string;
  readonly host: string;
  readonly value: string;
  /** Undefined while it has not been looked up. */
  readonly found?: readonly string[] | undefined;
  readonly children?: ReactNode;
}

export function DnsRecord({ type, host, value, found, children }: Props) {
  return (
    <>
      <dl className="mt-3 grid items-baseline grid-cols-[56px_minmax(0,1fr)] gap-x-4 gap-y-1">
        <dt className="text-muted">Type</dt>
        <dd className="font-mono text-small leading-5">{type}</dd>
        <dt className="text-muted">Host</dt>
        <dd className="min-w-0">
          <Copyable text={host} label="host" isShown isWhole />
        </dd>
      </dl>
      <div className={`mt-2 grid gap-x-6 gap-y-3 ${found ? "md:grid-cols-2" : ""}`}>
        <Side title="Expected" copy={value}>
          <Marked text={value} other={found?.length === 1 ? found[0] : undefined} tone="good" />
        </Side>
        {found && (
          <Side title="Found">
            {found.length === 0 ? (
              <p className="text-small text-muted">No record</p>
            ) : (
              found.map((one) => <Marked key={one} text={one} other={value} tone="bad" />)
            )}
          </Side>
        )}
      </div>
      {children}
    </>
  );
}

function Side({
  title,
  copy,
  children,
}: {
  readonly title: string;
  readonly copy?: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="min-w-0">
      <p className="flex h-7 items-center text-muted">
        {copy === undefined ? (
          title
        ) : (
          <Copyable text={title} copies={copy} label="value" isMono={false} isShown />
        )}
      </p>
      <div className="rounded bg-sunken px-2.5 py-1.5">{children}</div>
    </div>
  );
}

const marks = { good: "bg-good/15 text-good", bad: "bg-bad/15 text-bad" } as const;

/** A value, with the part marked in which it differs from the other one. */
function Marked({
  text,
  other,
  tone,
}: {
  readonly text: string;
  readonly other: string | undefined;
  readonly tone: keyof typeof marks;
}) {
  const [start, end] = other === undefined ? [text.length, 0] : sameEnds(text, other);
  const middle = text.slice(start, text.length - end);
  return (
    <p className="font-mono text-small break-all not-first:mt-1">
      {text.slice(0, start)}
      {middle && <mark className={`rounded-sm ${marks[tone]}`}>{middle}</mark>}
      {end > 0 && text.slice(-end)}
    </p>
  );
}

/** How many characters two texts have in common at their beginning, and after that at their end. */
function sameEnds(one: string, other: string): readonly [start: number, end: number] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return [start, end];
}
