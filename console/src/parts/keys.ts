/**
 * Shortcuts of single keys and of chords such as `g m`. They never act inside a field or an overlay, and not at all where the person
 * has switched them off: then only Escape and keys with a modifier act. Keys with a modifier act in fields, too.
 * What is mounted last is asked first, and a chord goes before a single key. Named ones are listed by the sheet of `?`.
 */
import { useEffect, useRef } from "react";

interface NamedShortcut {
  /** What it does, for the sheet of shortcuts. */
  readonly name: string;
  readonly group: string;
  /** Without it the sheet lists the keys, and what has the focus acts on them. */
  readonly run?: () => void;
}

export type Shortcuts = Readonly<Record<string, (() => void) | NamedShortcut>>;

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
  useEffect(() => keyboard.add(() => current.current), []);
}

/** The name of a key or of keys pressed together, as keyboards of this system have it. */
export function keyText(key: string): string {
  if (key === "Escape") return "Esc";
  const [, letter] = /^mod\+(.+)$/.exec(key) ?? [];
  if (letter === undefined) return key;
  return `${/Mac|iP(hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl+"}${letter.toUpperCase()}`;
}

/** The named shortcuts that act now, by group, in the order in which they were mounted. */
export function shortcutsNow(): ReadonlyMap<string, readonly (readonly [keys: string, name: string])[]> {
  return keyboard.named();
}

class Keyboard {
  readonly #layers: (() => Shortcuts)[] = [];
  #first = "";
  #at = 0;

  add(layer: () => Shortcuts): () => void {
    if (this.#layers.length === 0) document.addEventListener("keydown", this.#onKey);
    this.#layers.push(layer);
    return () => {
      this.#layers.splice(this.#layers.indexOf(layer), 1);
      if (this.#layers.length === 0) document.removeEventListener("keydown", this.#onKey);
    };
  }

  named(): ReadonlyMap<string, readonly (readonly [string, string])[]> {
    const groups = new Map<string, Map<string, string>>();
    for (const layer of this.#layers) {
      for (const [keys, shortcut] of Object.entries(layer())) {
        if (typeof shortcut === "function") continue;
        const group = groups.get(shortcut.group) ?? new Map<string, string>();
        groups.set(shortcut.group, group.set(keys, shortcut.name));
      }
    }
    return new Map([...groups].map(([group, keys]) => [group, [...keys]]));
  }

  readonly #onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey || isModifier(event.key)) return;
    const isMod = event.metaKey || event.ctrlKey;
    if (isInOverlay(event.target) || (!isMod && isTyping(event.target))) return;
    if (event.key.length === 1 && !isMod && !areKeysOn()) return;
    const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key;
    const chord = event.timeStamp - this.#at < CHORD_MS ? this.#find(`${this.#first} ${key}`) : undefined;
    const found = chord ?? this.#find(key);
    this.#first = chord ? "" : key;
    this.#at = event.timeStamp;
    if (found === undefined) return;
    event.preventDefault();
    found();
  };

  #find(keys: string): (() => void) | undefined {
    const acts = this.#layers.map((layer) => {
      const shortcut = layer()[keys];
      return typeof shortcut === "function" ? shortcut : shortcut?.run;
    });
    return acts.findLast((act) => act !== undefined);
  }
}

const keyboard = new Keyboard();

function isModifier(key: string): boolean {
  return /^(Shift|Control|Meta|Alt)$/.test(key);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type))
  );
}

function isInOverlay(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("[role=dialog],[role=menu],[role=listbox]") !== null;
}
