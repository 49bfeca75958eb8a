/**
 * What can stand between a call and its answer: the session has ended, or the person has to confirm who they are. The call waits
 * until a dialog (pages/sign-in/gate-dialogs.tsx) has settled it, and is then sent again, so that no page loses what was typed.
 */
import type { Schema } from "@posthaste/client";
import { useSyncExternalStore } from "react";

type Code = Schema<"ErrorCode">;
export type Hurdle = "session" | "confirmation";

const hurdles: Partial<Record<Code, Hurdle>> = {
  UNAUTHORIZED: "session",
  REAUTHENTICATION_REQUIRED: "confirmation",
};
const ANSWER_MS = 60_000;

interface Waiting {
  readonly promise: Promise<boolean>;
  readonly settle: (isPassed: boolean) => void;
}

class Gate {
  /** Replaced at each change, so that React sees it. */
  #waiting: ReadonlyMap<Hurdle, Waiting> = new Map();
  readonly #listeners = new Set<() => void>();

  readonly waiting = () => this.#waiting;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Asks the person, once for all calls that wait. @returns whether the calls can be sent again */
  ask(hurdle: Hurdle): Promise<boolean> {
    const known = this.#waiting.get(hurdle);
    if (known) return known.promise;
    let settle: Waiting["settle"] = () => {};
    const promise = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    this.#change(new Map(this.#waiting).set(hurdle, { promise, settle }));
    return promise;
  }

  settle(hurdle: Hurdle, isPassed: boolean): void {
    const known = this.#waiting.get(hurdle);
    const others = new Map(this.#waiting);
    others.delete(hurdle);
    this.#change(others);
    known?.settle(isPassed);
  }

  #change(waiting: ReadonlyMap<Hurdle, Waiting>) {
    this.#waiting = waiting;
    for (const listener of this.#listeners) listener();
  }
}

export const gate = new Gate();

/** Whether calls wait for this. */
export function useHurdle(hurdle: Hurdle): boolean {
  return useSyncExternalStore(gate.subscribe, gate.waiting).has(hurdle);
}

/** `fetch` for the client of the API. */
export async function fetchThroughGate(request: Request): Promise<Response> {
  // A form can hold a large file, and a copy would keep it in memory: its call is not repeated by itself.
  const isForm = request.headers.get("Content-Type")?.startsWith("multipart/") ?? false;
  const again = isForm ? undefined : request.clone();
  const response = await answerInTime(request);
  const hurdle = await hurdleOf(response);
  if (hurdle === undefined || !(await gate.ask(hurdle)) || again === undefined) return response;
  return fetchThroughGate(again);
}

async function hurdleOf(response: Response): Promise<Hurdle | undefined> {
  if (response.status !== 401 && response.status !== 403) return undefined;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { readonly code: Code } | null;
  return body === null ? undefined : hurdles[body.code];
}

/** The client's own time limit would run while a dialog is open. */
async function answerInTime(request: Request): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, late.signal]) });
  } finally {
    clearTimeout(timer);
  }
}
