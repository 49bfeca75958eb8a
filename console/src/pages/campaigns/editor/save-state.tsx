/** Where the draft is saved, in words; it is read aloud only when something is wrong. */
import { Check, CloudOff, LoaderCircle, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useZone } from "../../../parts/time.tsx";
import type { AutosaveState } from "./autosave-state.ts";
import { type Draft, fieldNames } from "./draft.ts";

export function SaveState({ state }: { readonly state: AutosaveState<Draft> }) {
  const { status, savedAt, error } = state;
  const clock = useClock();
  switch (status) {
    case "saved":
      return (
        <Line icon={<Check size={14} aria-hidden className="text-good" />}>
          {savedAt === undefined ? "Saved" : `Saved ${clock(savedAt)}`}
        </Line>
      );
    case "unsaved":
    case "saving":
      return <Line icon={<LoaderCircle size={14} aria-hidden />}>Saving …</Line>;
    case "unreachable":
      return (
        <Line icon={<CloudOff size={14} aria-hidden className="text-warning" />} isAlert>
          {state.keptAt === undefined
            ? "Not saved: the service does not answer"
            : `Saved here ${clock(state.keptAt)}, the service does not answer`}
        </Line>
      );
    case "refused":
      return (
        <Line icon={<TriangleAlert size={14} aria-hidden className="text-bad" />} isAlert>
          {refusalOf(error)}
        </Line>
      );
    case "conflict":
      return (
        <Line icon={<TriangleAlert size={14} aria-hidden className="text-bad" />} isAlert>
          Someone else changed the same
        </Line>
      );
    case "closed":
      return (
        <Line icon={<TriangleAlert size={14} aria-hidden className="text-bad" />} isAlert>
          Kept here: {messageOf(error)}
        </Line>
      );
  }
}

function Line({
  icon,
  isAlert = false,
  children,
}: {
  readonly icon: ReactNode;
  readonly isAlert?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <p
      {...(isAlert && { role: "alert" })}
      className="flex min-w-0 items-center gap-1.5 text-small text-muted tabular-nums"
    >
      {icon}
      <span className="min-w-0 truncate">{children}</span>
    </p>
  );
}

function useClock(): (at: number) => string {
  const format = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: useZone() });
  return (at) => format.format(at);
}

/** The API's sentence with the names of the fields that people see. */
function refusalOf(error: unknown): string {
  const details = (error as { details?: readonly { field: string; message: string }[] }).details ?? [];
  const [first] = details;
  if (!first) return `Not saved: ${messageOf(error)}`;
  const name = (fieldNames as Readonly<Record<string, string>>)[first.field] ?? first.field;
  return `${name} is not saved: ${first.message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the change was refused";
}
