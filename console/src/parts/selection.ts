/** Chosen rows of a list: single ones, or all that match the filter but single ones. Turning the page keeps them; another filter does not. */
import { useState } from "react";

export interface Selection {
  readonly isAll: boolean;
  /** The chosen rows, or with `isAll` the rows left out. */
  readonly ids: ReadonlySet<string>;
}

const nothing: Selection = { isAll: false, ids: new Set() };

export interface SelectionState {
  readonly selection: Selection;
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  /** Chooses the rows of a page, or lets them go when all of them are chosen. */
  readonly togglePage: (ids: readonly string[]) => void;
  readonly chooseAll: () => void;
  readonly clear: () => void;
}

/** @param filter names the conditions of the list; another one clears the selection */
export function useSelection(filter: string): SelectionState {
  const [state, setState] = useState({ filter, selection: nothing });
  const { isAll, ids } = state.filter === filter ? state.selection : nothing;
  const set = (selection: Selection) => setState({ filter, selection });
  const has = (id: string) => ids.has(id) !== isAll;
  const change = (changed: readonly string[], isChosen: boolean) => {
    const next = new Set(ids);
    for (const id of changed) {
      if (isChosen === isAll) next.delete(id);
      else next.add(id);
    }
    set({ isAll, ids: next });
  };
  return {
    selection: { isAll, ids },
    has,
    toggle: (id) => change([id], !has(id)),
    togglePage: (page) => change(page, !page.every(has)),
    chooseAll: () => set({ isAll: true, ids: new Set() }),
    clear: () => set(nothing),
  };
}

/** How many rows are chosen of a list of `total`. */
export function countChosen({ isAll, ids }: Selection, total: number): number {
  return isAll ? Math.max(0, total - ids.size) : ids.size;
}
