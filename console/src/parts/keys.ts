/**
 * Shortcuts of single keys and of chords such as `g m`. They never act inside a field or an overlay, and not at all where the person
 * has switched them off: then only Escape and keys with a modifier act.
 */
import { useEffect, useRef } from "react";

export type Shortcuts = Readonly<Record<string, () => void>>;

const CHORD_MS = 1_000;
const SWITCH = "shortcuts";

/** Whether single keys act in this browser. */
export function areKeysOn(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

export function switchKeys(areOn: boolean): void {
  localStorage.setItem(SWITCH, areOn ? "on" : "off");
}

export function useKeys(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const keys = new Keys(() => current.current);
    document.addEventListener("keydown", keys.onKey);
    return () => document.removeEventListener("keydown", keys.onKey);
  }, []);
}

class Keys {
  readonly #shortcuts: () => Shortcuts;
  #first = "";
  #at = 0;

  constructor(shortcuts: () => Shortcuts) {
    this.#shortcuts = shortcuts;
  }

  readonly onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey || isTyping(event.target)) return;
    const isSingle = event.key.length === 1 && !event.metaKey && !event.ctrlKey;
    if (isSingle && !areKeysOn()) return;
    const key = event.metaKey || event.ctrlKey ? `mod+${event.key.toLowerCase()}` : event.key;
    const chord = event.timeStamp - this.#at < CHORD_MS ? `${this.#first} ${key}` : key;
    const act = this.#shortcuts()[chord] ?? this.#shortcuts()[key];
    this.#first = key;
    this.#at = event.timeStamp;
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest("[role=dialog],[role=menu],[role=listbox]") !== null
  );
}
