/** What autosave knows of a draft, and where it saves. */
import type { Names } from "./differences.ts";

export interface Version<Draft> {
  readonly draft: Draft;
  readonly revision: number;
}

/** What this device keeps of a draft: the fields that the service does not have, with their former values. */
export interface LocalCopy<Draft> {
  readonly at: number;
  readonly changed: Partial<Draft>;
  readonly base: Partial<Draft>;
}

/** Values that were not taken. */
export interface SetAside<Draft> {
  readonly at: number;
  readonly changed: Partial<Draft>;
}

export interface Places<Draft> {
  /** @returns the new revision; throws what the API answers, with `status` and `details` */
  readonly save: (change: Partial<Draft>, revision: number) => Promise<number>;
  readonly current: () => Promise<Version<Draft>>;
  readonly readLocal: () => Promise<LocalCopy<Draft> | undefined>;
  readonly writeLocal: (copy: LocalCopy<Draft> | undefined) => Promise<void>;
  readonly readAside: () => Promise<SetAside<Draft> | undefined>;
  readonly writeAside: (aside: SetAside<Draft>) => Promise<void>;
}

export interface AutosaveState<Draft> {
  readonly draft: Draft;
  readonly revision: number;
  /** `closed`: the service takes no more changes, because it is no draft any more. */
  readonly status: "saved" | "unsaved" | "saving" | "unreachable" | "refused" | "conflict" | "closed";
  readonly savedAt: number | undefined;
  readonly keptAt: number | undefined;
  readonly error: unknown;
  /** Fields that another person changed, too, and their values. */
  readonly conflict: { readonly names: Names<Draft>; readonly theirs: Draft } | undefined;
  /** Fields that were taken over from another person's change. */
  readonly adopted: Names<Draft>;
  /** Changes of an earlier visit that the service does not have. */
  readonly found: LocalCopy<Draft> | undefined;
  readonly aside: SetAside<Draft> | undefined;
}
