/**
 * Saves what a person writes: on this device right after the last key, in the service soon after. Two people who change different
 * fields both keep their changes; the same field is a conflict, and the version not taken is set aside.
 */
import type { AutosaveState, Places, Version } from "./autosave-state.ts";
import { differing, isSame, picked } from "./differences.ts";

export const LOCAL_MS = 300;
export const SERVICE_MS = 2_000;
/** What is typed without a pause is saved this often. */
const LONGEST_WAIT_MS = 10_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 30_000;

export class Autosave<Draft extends object> {
  readonly #places: Places<Draft>;
  readonly #listeners = new Set<() => void>();
  #state: AutosaveState<Draft>;
  /** What the service has. */
  #base: Draft;
  /** Values that the service refused; they are not sent again before they change. */
  #refused: Partial<Draft> = {};
  #localTimer: ReturnType<typeof setTimeout> | undefined;
  #serviceTimer: ReturnType<typeof setTimeout> | undefined;
  #unsavedSince: number | undefined;
  #retryMs = FIRST_RETRY_MS;
  #running: Promise<void> | undefined;

  constructor({ draft, revision }: Version<Draft>, places: Places<Draft>) {
    this.#places = places;
    this.#base = draft;
    this.#state = {
      draft,
      revision,
      status: "saved",
      savedAt: undefined,
      keptAt: undefined,
      error: undefined,
      conflict: undefined,
      adopted: [],
      found: undefined,
      aside: undefined,
    };
  }

  readonly state = () => this.#state;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Looks for what an earlier visit left on this device. */
  async open(): Promise<void> {
    const [copy, aside] = await Promise.all([this.#places.readLocal(), this.#places.readAside()]);
    const isNews =
      copy !== undefined && this.#isUntouched() && differing(copy.changed, this.#base).length > 0;
    this.#set({ aside, ...(isNews && { found: copy }) });
  }

  edit(change: Partial<Draft>): void {
    const { draft, status } = this.#state;
    const isSettled = status === "saved" || status === "refused";
    this.#set({ draft: { ...draft, ...change }, ...(isSettled && { status: "unsaved" }) });
    this.#schedule();
  }

  /** Continues with the changes of the earlier visit. */
  takeFound(): void {
    const { found } = this.#state;
    if (!found) return;
    this.#set({ found: undefined });
    this.#merge({ ...this.#base, ...found.base }, { ...this.#state.draft, ...found.changed });
    this.#schedule();
  }

  /** Continues with what the service has; the changes of the earlier visit are set aside. */
  async leaveFound(): Promise<void> {
    const { found } = this.#state;
    if (!found) return;
    await this.#setAside(found.changed);
    this.#set({ found: undefined });
    await this.#keep();
  }

  /** Ends a conflict. Of each field the version not taken is set aside. */
  async resolve(taken: Readonly<Record<string, "mine" | "theirs">>): Promise<void> {
    const { conflict, draft } = this.#state;
    if (!conflict) return;
    const theirs = conflict.names.filter((name) => taken[name] === "theirs");
    const mine = conflict.names.filter((name) => taken[name] !== "theirs");
    await this.#setAside({ ...picked(draft, theirs), ...picked(conflict.theirs, mine) });
    this.#set({
      conflict: undefined,
      draft: { ...draft, ...picked(conflict.theirs, theirs) },
      status: "unsaved",
    });
    await this.saveNow();
  }

  /** Changes places with what was set aside. */
  async restoreAside(): Promise<void> {
    const { aside, draft } = this.#state;
    if (!aside) return;
    await this.#setAside(picked(draft, Object.keys(aside.changed) as never));
    this.edit(aside.changed);
  }

  /** Saves everything: on this device, then in the service. */
  async saveNow(): Promise<void> {
    await this.#keep();
    await this.#running;
    this.#running ??= this.#save().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  #schedule(): void {
    clearTimeout(this.#localTimer);
    this.#localTimer = setTimeout(() => void this.#keep(), LOCAL_MS);
    this.#unsavedSince ??= Date.now();
    const left = LONGEST_WAIT_MS - (Date.now() - this.#unsavedSince);
    this.#saveAfter(Math.max(0, Math.min(SERVICE_MS, left)));
  }

  #saveAfter(ms: number): void {
    clearTimeout(this.#serviceTimer);
    this.#serviceTimer = setTimeout(() => void this.saveNow(), ms);
  }

  /** Writes what the service lacks to this device. */
  async #keep(): Promise<void> {
    clearTimeout(this.#localTimer);
    const names = differing(this.#state.draft, this.#base);
    if (names.length === 0 && this.#state.found) return;
    const at = Date.now();
    const copy = { at, changed: picked(this.#state.draft, names), base: picked(this.#base, names) };
    try {
      await this.#places.writeLocal(names.length === 0 ? undefined : copy);
      this.#set({ keptAt: names.length === 0 ? undefined : at });
    } catch {
      // A browser without storage: the service is the only place.
      this.#set({ keptAt: undefined });
    }
  }

  async #save(): Promise<void> {
    clearTimeout(this.#serviceTimer);
    if (this.#isStopped()) return;
    const change = this.#unsent();
    if (Object.keys(change).length === 0) {
      const isRefused = Object.keys(this.#refused).length > 0;
      if (!isRefused) this.#set({ status: "saved", error: undefined });
      return;
    }
    if (this.#state.status !== "unreachable") this.#set({ status: "saving" });
    try {
      const revision = await this.#places.save(change, this.#state.revision);
      await this.#saved(change, revision);
    } catch (error) {
      await this.#failed(change, error);
    }
  }

  async #saved(change: Partial<Draft>, revision: number): Promise<void> {
    this.#base = { ...this.#base, ...change };
    this.#retryMs = FIRST_RETRY_MS;
    this.#unsavedSince = undefined;
    const isRefused = Object.keys(this.#refused).length > 0;
    const isWhole = Object.keys(this.#unsent()).length === 0;
    this.#set({
      revision,
      savedAt: Date.now(),
      status: !isWhole ? "unsaved" : isRefused ? "refused" : "saved",
      ...(!isRefused && { error: undefined }),
    });
    await this.#keep();
    if (!isWhole) this.#schedule();
  }

  async #failed(change: Partial<Draft>, error: unknown): Promise<void> {
    const { status, details = [] } = (error ?? {}) as {
      status?: number;
      details?: readonly { readonly field: string }[];
    };
    if (status === 412) return this.#meet();
    if (status === 409 || status === 404) return this.#set({ status: "closed", error });
    if (isTemporary(status)) {
      this.#set({ status: "unreachable", error });
      this.#saveAfter(this.#retryMs);
      this.#retryMs = Math.min(LONGEST_RETRY_MS, this.#retryMs * 2);
      return;
    }
    const refused = (Object.keys(change) as (keyof Draft & string)[]).filter((name) =>
      details.some(
        ({ field }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
      ),
    );
    this.#refused = { ...this.#refused, ...picked(change as Draft, refused) };
    this.#set({ status: "refused", error });
    // What is right beside a refused value is saved.
    if (refused.length > 0) await this.#save();
  }

  /** Another change was faster: takes its fields over, or finds that it changed the same ones. */
  async #meet(): Promise<void> {
    try {
      const { draft: theirs, revision } = await this.#places.current();
      const former = this.#base;
      this.#base = theirs;
      this.#set({ revision });
      this.#merge(former, this.#state.draft);
    } catch (error) {
      return this.#failed({}, error);
    }
    if (!this.#state.conflict) await this.#save();
  }

  /** Lays `mine`, which was made from `former`, over what the service has. */
  #merge(former: Draft, mine: Draft): void {
    const theirs = this.#base;
    const names = differing(theirs, former);
    const both = names.filter(
      (name) => !isSame(mine[name], former[name]) && !isSame(mine[name], theirs[name]),
    );
    const adopted = names.filter((name) => !both.includes(name) && !isSame(mine[name], theirs[name]));
    this.#set({
      draft: { ...mine, ...picked(theirs, adopted) },
      adopted,
      status: both.length > 0 ? "conflict" : "unsaved",
      conflict: both.length > 0 ? { names: both, theirs } : undefined,
    });
  }

  async #setAside(changed: Partial<Draft>): Promise<void> {
    const aside = { at: Date.now(), changed };
    await this.#places.writeAside(aside);
    this.#set({ aside });
  }

  /** The fields to send: those that the service lacks and has not refused. */
  #unsent(): Partial<Draft> {
    const { draft } = this.#state;
    for (const name of differing(this.#refused, draft))
      delete (this.#refused as Record<string, unknown>)[name];
    const refused = Object.keys(this.#refused);
    return picked(
      draft,
      differing(draft, this.#base).filter((name) => !refused.includes(name)),
    );
  }

  #isUntouched(): boolean {
    return differing(this.#state.draft, this.#base).length === 0;
  }

  #isStopped(): boolean {
    return this.#state.status === "conflict" || this.#state.status === "closed";
  }

  #set(change: Partial<AutosaveState<Draft>>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function isTemporary(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 429 || status >= 500;
}
