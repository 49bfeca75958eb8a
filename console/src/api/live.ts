/**
 * Live states: one stream of events a browser, shared by its tabs. The tab that holds the lock reads the stream for all and passes
 * the states on; when it closes, another takes over.
 */
import { useCallback, useSyncExternalStore } from "react";
import { gate } from "./gate.ts";

interface State {
  readonly topic: string;
  readonly at: string;
  readonly state: unknown;
}

/** What the tabs tell each other. */
type Word =
  | { readonly kind: "state"; readonly state: State }
  | { readonly kind: "wants"; readonly tab: string; readonly topics: readonly string[] }
  /** A new leader asks what the others want. */
  | { readonly kind: "ask" }
  | { readonly kind: "lost"; readonly since: string | undefined };

/** A stream that the service refused is asked for again after this time; a lost connection the browser opens again by itself. */
const AGAIN_MS = 10_000;
/** A shorter gap is not shown. */
const LOST_MS = 5_000;
/** Topics that come and go with a change of page do not open the stream twice. */
const SETTLE_MS = 100;

class LiveStates {
  readonly #workspaceId: string;
  readonly #channel: BroadcastChannel;
  readonly #tab = crypto.randomUUID();
  readonly #states = new Map<string, State>();
  readonly #listeners = new Set<() => void>();
  /** Topics with the number of places that watch them in this tab. */
  readonly #watched = new Map<string, number>();
  readonly #wantedElsewhere = new Map<string, readonly string[]>();
  #source: EventSource | undefined;
  #open = "";
  #isLeading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lostSince: string | undefined;
  #lostTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(workspaceId: string) {
    this.#workspaceId = workspaceId;
    this.#channel = new BroadcastChannel(`live ${workspaceId}`);
    this.#channel.onmessage = ({ data }: MessageEvent<Word>) => this.#hear(data);
    // An ended session that is renewed opens the stream at once.
    gate.subscribe(() => this.#open === "" && !gate.waiting().has("session") && this.#settle());
    addEventListener("pagehide", () => this.#tell({ kind: "wants", tab: this.#tab, topics: [] }));
    void navigator.locks.request(`live ${workspaceId}`, () => {
      this.#isLeading = true;
      this.#tell({ kind: "ask" });
      this.#settle();
      // Held until the tab closes.
      return new Promise<void>(() => {});
    });
  }

  watch(topic: string, listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watched.set(topic, (this.#watched.get(topic) ?? 0) + 1);
    this.#settle();
    return () => {
      this.#listeners.delete(listener);
      const left = (this.#watched.get(topic) ?? 1) - 1;
      if (left === 0) this.#watched.delete(topic);
      else this.#watched.set(topic, left);
      this.#settle();
    };
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stateOf(topic: string): State | undefined {
    return this.#states.get(topic);
  }

  /** Since when nothing has come; undefined while the stream is open. */
  get lostSince(): string | undefined {
    return this.#lostSince;
  }

  #hear(word: Word) {
    if (word.kind === "state") this.#take(word.state);
    else if (word.kind === "lost") this.#setLost(word.since);
    else if (word.kind === "ask") this.#tellWants();
    else {
      this.#wantedElsewhere.set(word.tab, word.topics);
      if (this.#isLeading) this.#tellKnown(word.topics);
      this.#settle();
    }
  }

  /** The stream tells a state when it opens and when it changes: a tab that comes later gets what was told before. */
  #tellKnown(topics: readonly string[]) {
    for (const topic of topics) {
      const state = this.#states.get(topic);
      if (state) this.#tell({ kind: "state", state });
    }
  }

  #take(state: State) {
    this.#states.set(state.topic, state);
    this.#notify();
  }

  #setLost(since: string | undefined) {
    if (this.#lostSince === since) return;
    this.#lostSince = since;
    this.#notify();
  }

  #notify() {
    for (const listener of this.#listeners) listener();
  }

  #settle(ms = SETTLE_MS) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#isLeading ? this.#reopen() : this.#tellWants()), ms);
  }

  #tellWants() {
    if (!this.#isLeading) this.#tell({ kind: "wants", tab: this.#tab, topics: [...this.#watched.keys()] });
  }

  #tell(word: Word) {
    this.#channel.postMessage(word);
  }

  #reopen() {
    const all = [...this.#watched.keys(), ...[...this.#wantedElsewhere.values()].flat()];
    const topics = [...new Set(all)].sort().join(",");
    if (topics === this.#open || gate.waiting().has("session")) return;
    this.#source?.close();
    this.#source = undefined;
    this.#open = topics;
    if (topics === "") return;
    const source = new EventSource(
      `/api/v1/events?workspace=${this.#workspaceId}&topics=${encodeURIComponent(topics)}`,
    );
    this.#source = source;
    for (const kind of new Set(topics.split(",").map((topic) => topic.split(":")[0] ?? ""))) {
      source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
        const state = JSON.parse(data) as State;
        this.#take(state);
        this.#tell({ kind: "state", state });
      });
    }
    source.addEventListener("open", () => {
      clearTimeout(this.#lostTimer);
      this.#lostTimer = undefined;
      this.#sayLost(undefined);
    });
    source.addEventListener("error", () => this.#lose(source));
    source.addEventListener("end", ({ data }: MessageEvent<string>) => {
      if ((JSON.parse(data) as { reason: string }).reason !== "access_lost") return;
      source.close();
      this.#lose(source);
    });
  }

  #lose({ readyState }: EventSource) {
    const since = new Date().toISOString();
    this.#lostTimer ??= setTimeout(() => this.#sayLost(since), LOST_MS);
    if (readyState !== EventSource.CLOSED) return;
    this.#open = "";
    this.#settle(AGAIN_MS);
  }

  #sayLost(since: string | undefined) {
    this.#setLost(since);
    this.#tell({ kind: "lost", since });
  }
}

const places = new Map<string, LiveStates>();

function liveOf(workspaceId: string): LiveStates {
  const known = places.get(workspaceId) ?? new LiveStates(workspaceId);
  places.set(workspaceId, known);
  return known;
}

/** The latest state of a topic; undefined until the first has come. */
export function useLive<Shape>(workspaceId: string, topic: string): Shape | undefined {
  const live = liveOf(workspaceId);
  const subscribe = useCallback((listener: () => void) => live.watch(topic, listener), [live, topic]);
  const state = useSyncExternalStore(subscribe, () => live.stateOf(topic));
  return state?.state as Shape | undefined;
}

/** Since when live states have stopped to come; undefined while they come. */
export function useLiveLost(workspaceId: string): string | undefined {
  const live = liveOf(workspaceId);
  const subscribe = useCallback((listener: () => void) => live.listen(listener), [live]);
  return useSyncExternalStore(subscribe, () => live.lostSince);
}
