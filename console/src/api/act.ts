/** A change: calls the API, loads again what it touches, and says what was done. */

import { useQueryClient } from "@tanstack/react-query";
import { say } from "../parts/live-region.ts";
import { useOnce } from "./once.ts";

interface Act<Input, Result> {
  readonly run: (input: Input) => Promise<Result>;
  /** First words of the keys of the queries that show something else afterwards. */
  readonly changes: readonly string[];
  readonly done: string | ((result: Result) => string);
  readonly onDone?: (result: Result) => unknown;
}

export function useAct<Input = void, Result = unknown>({ run, changes, done, onDone }: Act<Input, Result>) {
  const queries = useQueryClient();
  return useOnce({
    mutationFn: run,
    onSuccess: async (result) => {
      await Promise.all(changes.map((first) => queries.invalidateQueries({ queryKey: [first] })));
      say(typeof done === "string" ? done : done(result));
      onDone?.(result);
    },
  });
}

interface Detail {
  readonly field: string;
  readonly message: string;
}

/** The messages about fields in a refusal, for a form: `{ name: "…" }`. */
export function fieldErrors(error: unknown): Record<string, string> {
  const details = (error as { details?: readonly Detail[] } | null)?.details ?? [];
  return Object.fromEntries(details.map((detail) => [detail.field, sentenceAtField(detail)]));
}

/** The API's messages begin with the name of the field, which is not said again where it stands before them. */
export function sentenceAtField({ field, message }: Detail): string {
  if (message.startsWith(`${field}: `)) return message.slice(field.length + 2);
  return message.startsWith(`${field} `) ? `It ${message.slice(field.length + 1)}` : message;
}
