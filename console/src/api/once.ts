/** Mutations that run once at a time: a double click, or a key that is held, is one act. */
import { type UseMutationOptions, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

/** A held key repeats every 33 ms, until what it has sent is gone from the page. */
const SETTLED_MS = 300;

/** As useMutation; a call while one runs, or has just succeeded, does nothing. */
export function useOnce<Result = unknown, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
): UseMutationResult<Result, Error, Input> {
  const isHeld = useRef(false);
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      const [, error] = settled;
      window.setTimeout(() => (isHeld.current = false), error === null ? SETTLED_MS : 0);
      return options.onSettled?.(...settled);
    },
  });
  const { mutate } = mutation;
  const mutateOnce = useCallback<typeof mutate>(
    (...given) => {
      if (isHeld.current) return;
      isHeld.current = true;
      mutate(...given);
    },
    [mutate],
  );
  return { ...mutation, mutate: mutateOnce };
}
