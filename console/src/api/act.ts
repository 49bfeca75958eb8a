/** A change: calls the API, loads again what it touches, and says what was done. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { say } from "../parts/live-region.ts";

interface Act<Input, Result> {
  readonly run: (input: Input) => Promise<Result>;
  /** First words of the keys of the queries that show something else afterwards. */
  readonly changes: readonly string[];
  readonly done: string | ((result: Result) => string);
  readonly onDone?: (result: Result) => unknown;
}

export function useAct<Input = void, Result = unknown>({ run, changes, done, onDone }: Act<Input, Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      await Promise.all(changes.map((first) => queries.invalidateQueries({ queryKey: [first] })));
      say(typeof done === "string" ? done : done(result));
      onDone?.(result);
    },
  });
}

/** The messages about fields in a refusal, for a form: `{ name: "…" }`. */
export function fieldErrors(error: unknown): Record<string, string> {
  const details =
    (error as { details?: readonly { field: string; message: string }[] } | null)?.details ?? [];
  return Object.fromEntries(details.map(({ field, message }) => [field, message]));
}

/** Whether a form shows the refusal at its fields, so that it need not be shown again. */
export function hasFieldErrors(error: unknown): boolean {
  return Object.keys(fieldErrors(error)).length > 0;
}
