/** Whether a key works, and whether a program still uses it. */
import type { Schema } from "@posthaste/client";
import { type Look, StateMark } from "../../parts/state-mark.tsx";

export type Key = Schema<"ApiKey">;

const UNUSED_DAYS = 90;
const DAY_MS = 86_400_000;

const looks = {
  active: { shape: "●", tone: "text-good" },
  unused: { shape: "◐", tone: "text-warning" },
  expired: { shape: "■", tone: "text-muted" },
  inactive: { shape: "■", tone: "text-muted" },
} as const satisfies Readonly<Record<string, Look>>;

type State = keyof typeof looks;

const meanings: Readonly<Record<State, string>> = {
  active: "Programs can use it.",
  unused: `It works, and no program has used it for ${UNUSED_DAYS} days. Deactivate it if none needs it.`,
  expired: "Programs that use it are refused since it has expired.",
  inactive: "Programs that use it are refused. You can reactivate it.",
};

export function stateOf({ is_active, expires_at, last_used_at, created_at }: Key): State {
  const now = Date.now();
  if (!is_active) return "inactive";
  if (expires_at !== null && Date.parse(expires_at) <= now) return "expired";
  const isUnused = now - Date.parse(last_used_at ?? created_at) > UNUSED_DAYS * DAY_MS;
  return isUnused ? "unused" : "active";
}

export function meaningOf(key: Key): string {
  return meanings[stateOf(key)];
}

export function KeyState({ apiKey }: { readonly apiKey: Key }) {
  const state = stateOf(apiKey);
  return <StateMark {...looks[state]} word={state} />;
}
