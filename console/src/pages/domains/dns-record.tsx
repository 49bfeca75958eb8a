/** One DNS record: what to publish, each part with a button to copy it, beside what is published, with the differing part marked. */
import type { Schema } from "@posthaste/client";
import type { ReactNode } from "react";
import { Copyable } from "../../parts/copyable.tsx";
import { counted } from "../../parts/numbers.ts";
import { type Look, StateMark } from "../../parts/state-mark.tsx";
import { differencesOf } from "./differences.ts";

type Check = Schema<"DnsCheck">;

const looks: Readonly<Record<Check["status"], Look & { readonly word: string }>> = {
  verified: { shape: "●", tone: "text-good", word: "published" },
  missing: { shape: "○", tone: "text-warning", word: "missing" },
  mismatch: { shape: "▲", tone: "text-bad", word: "differs" },
  error: { shape: "▲", tone: "text-warning", word: "not known" },
};

export function DnsState({ status }: { readonly status: Check["status"] }) {
  return <StateMark {...looks[status]} />;
}

export interface NameInForm {
  /** Empty for the domain itself, at some providers. */
  readonly name: string;
  /** For example "the field Name of Cloudflare"; undefined if the provider is not known. */
  readonly form: string | undefined;
}

interface Props {
  readonly type: string;
  readonly host: string;
  /** What to enter in a DNS panel that appends the domain itself. */
  readonly nameInForm?: NameInForm;
  readonly value: string;
  /** Undefined while it has not been looked up. */
  readonly check?: Pick<Check, "status" | "found" | "found_host"> | undefined;
}

export function DnsRecord({ type, host, nameInForm, value, check }: Props) {
  return (
    <>
      <dl className="mt-3 grid items-baseline grid-cols-[56px_minmax(0,1fr)] gap-x-4 gap-y-1">
        <dt className="text-muted">Type</dt>
        <dd className="font-mono text-small leading-5">{type}</dd>
        <dt className="text-muted">Host</dt>
        <dd className="flex min-w-0 flex-wrap items-baseline gap-x-4">
          <Copyable text={host} label="host" isShown isWhole />
          {nameInForm && (
            <span className="inline-flex min-w-0 flex-wrap items-baseline gap-x-1 text-small text-muted">
              {nameInForm.form ? `or, in ${nameInForm.form},` : "or, where the DNS panel appends the domain,"}
              {nameInForm.name === "" ? (
                "nothing"
              ) : (
                <Copyable text={nameInForm.name} label="short host" isShown isWhole />
              )}
            </span>
          )}
        </dd>
      </dl>
      <div className={`mt-2 grid gap-x-6 gap-y-3 ${check ? "md:grid-cols-2" : ""}`}>
        <Side title="Expected" copy={value}>
          <Value text={value} others={check?.status === "mismatch" ? check.found : undefined} tone="good" />
        </Side>
        {check && <Found {...check} host={host} value={value} />}
      </div>
    </>
  );
}

/** What is published: nothing, one record or several, perhaps at a wrong name. */
function Found({
  status,
  found,
  found_host,
  host,
  value,
}: Pick<Check, "status" | "found" | "found_host"> & { readonly host: string; readonly value: string }) {
  const isWrong = status === "mismatch";
  return (
    <Side title={found.length > 1 ? `Found: ${counted(found.length, "record")}` : "Found"}>
      {found.length === 0 && (
        <p className="text-small text-muted">
          {status === "error" ? "The name servers gave no answer" : "No record"}
        </p>
      )}
      {found_host !== null && (
        <p className="mb-1 text-small">
          <span className="text-muted">at </span>
          <Value text={found_host} others={[host]} tone="bad" />
        </p>
      )}
      <ul>
        {found.map((one, place) => (
          <li
            key={`${one} ${place.toString()}`}
            className="not-first:mt-1.5 not-first:border-t not-first:border-line not-first:pt-1.5"
          >
            <Value text={one} others={isWrong ? [value] : undefined} tone="bad" />
          </li>
        ))}
      </ul>
    </Side>
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

const marks = { good: "bg-good/20 text-text", bad: "bg-bad/20 text-text" } as const;

/** A value, with the parts marked that none of the others has. */
function Value({
  text,
  others,
  tone,
}: {
  readonly text: string;
  /** Undefined: nothing is marked. */
  readonly others: readonly string[] | undefined;
  readonly tone: keyof typeof marks;
}) {
  const parts = others === undefined ? [{ text, at: 0, differs: false }] : differencesOf(text, others);
  return (
    <span className="font-mono text-small break-all">
      {parts.map(({ text: part, at, differs }) =>
        differs ? (
          <mark key={at} className={`rounded-sm ${marks[tone]}`}>
            {part}
          </mark>
        ) : (
          <span key={at}>{part}</span>
        ),
      )}
    </span>
  );
}
