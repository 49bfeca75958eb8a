/**
 * Live states: one stream of events a browser, shared by its tabs. The tab that holds the lock reads the stream and passes the
 * states on; when it closes, another takes over.
 */
import { useCallback, useSyncExternalStore } from "react";

interface State {
  readonly topic: string;
  readonly at: string;
  readonly state: unknown;
}

class LiveStates {
  readonly #workspaceId: string;
  readonly #channel: BroadcastChannel;
  readonly #states = new Map<string, State>();
  readonly #listeners = new Set<() => void>();
  /** Topics with the number of places that watch them here. */
  readonly #watched = new Map<string, number>();
  readonly #wantedElsewhere = new Set<string>();
  #source: EventSource | undefined;
  #open = "";
  #isLeading = false;

  constructor(workspaceId: string) {
    this.#workspaceId = workspaceId;
    this.#channel = new BroadcastChannel(`live ${workspaceId}`);
    this.#channel.onmessage = ({ data }: MessageEvent<{ state?: State; wants?: string }>) => {
      if (data.state) this.#take(data.state);
      if (data.wants && !this.#wantedElsewhere.has(data.wants)) {
        this.#wantedElsewhere.add(data.wants);
        this.#reopen();
      }
    };
    void navigator.locks.request(`live ${workspaceId}`, () => {
      this.#isLeading = true;
      this.#reopen();
      // Held until the tab closes.
      return new Promise<void>(() => {});
    });
  }

  watch(topic: string, listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#watched.set(topic, (this.#watched.get(topic) ?? 0) + 1);
    this.#channel.postMessage({ wants: topic });
    this.#reopen();
    return () => {
      this.#listeners.delete(listener);
      const left = (this.#watched.get(topic) ?? 1) - 1;
      if (left === 0) this.#watched.delete(topic);
      else this.#watched.set(topic, left);
    };
  }

  stateOf(topic: string): State | undefined {
    return this.#states.get(topic);
  }

  #take(state: State) {
    this.#states.set(state.topic, state);
    for (const listener of this.#listeners) listener();
  }

  #reopen() {
    if (!this.#isLeading) return;
    const topics = [...new Set([...this.#watched.keys(), ...this.#wantedElsewhere])].sort().join(",");
    if (topics === this.#open || topics === "") return;
    this.#source?.close();
    this.#open = topics;
    this.#source = new EventSource(
      `/api/v1/events?workspace=${this.#workspaceId}&topics=${encodeURIComponent(topics)}`,
    );
    for (const kind of new Set(topics.split(",").map((topic) => topic.split(":")[0] ?? ""))) {
      this.#source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
        const state = JSON.parse(data) as State;
        this.#take(state);
        this.#channel.postMessage({ state });
      });
    }
    this.#source.addEventListener("end", ({ data }: MessageEvent<string>) => {
      if ((JSON.parse(data) as { reason: string }).reason === "access_lost") this.#source?.close();
    });
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
