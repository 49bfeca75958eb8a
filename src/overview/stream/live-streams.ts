/**
 * The open event streams of this process, and the one poller behind them. Once a second it reads the states of all watched
 * topics, one statement for each kind of topic, whatever the number of streams. Without open streams it reads nothing.
 *
 * An event carries the whole state of its topic, so only the newest matters: a stream gets a state when it differs from the
 * one that it got last. The id of an event names the states (by a hash) that the stream has then. A stream that continues
 * with that id, at any process, at once gets the topics whose state has changed, and no others.
 */
import { hash } from "node:crypto";
import {
  type EventSink,
  EventStream,
  eventText,
  streamEndText,
} from "#platform/http/response/event-stream.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { HeldShares } from "#platform/limits/in-process-shares.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { shareRefusal } from "#platform/limits/limit-errors.ts";
import type { Log } from "#platform/log/log.ts";
import { RepeatedFaults } from "#platform/log/repeated-faults.ts";
import { type Subject, TICK_MS, type TopicSource } from "./topic-sources.ts";
import type { Topic, TopicKind, TopicRights } from "./topics.ts";

/** How often keys, sessions and their permissions are looked up again. */
const ACCESS_MS = 3_000;
/** How soon a new stream gets its first states; streams that open together share the read. */
const FIRST_MS = 50;
/** A timer may fire a little early. */
const EARLY_MS = 50;
/** 48 bits of the hash tell two states of one topic apart. */
const VERSION_LENGTH = 8;
const LONGEST_ID = 1_000;
/** The holder that limits of the whole process are counted for. */
const ALL = "";

/** The API key or person that watches a stream. */
export interface Watcher {
  readonly workspaceId: WorkspaceId;
  readonly timezone: string;
  /** The id of the API key or of the session. */
  readonly holder: string;
  /** The person of the session; null for a key. */
  readonly userId: string | null;
  readonly permissions: readonly string[];
}

/** The permissions of watchers now, in their order; undefined for those who have lost their access. */
export type ReadAccess = (
  watchers: readonly Watcher[],
) => Promise<readonly (readonly string[] | undefined)[]>;

/** A view of a state: what callers with the same rights see. */
interface View {
  readonly json: string;
  readonly version: string;
}

/** A topic of a workspace that at least one stream watches. */
class WatchedTopic {
  readonly kind: TopicKind;
  readonly subject: Subject;
  watchers = 0;
  readAt = -Infinity;
  at = "";
  #state: unknown;
  #text = "";
  readonly #views = new Map<string, View>();

  constructor(kind: TopicKind, subject: Subject) {
    this.kind = kind;
    this.subject = subject;
  }

  get isRead(): boolean {
    return this.readAt !== -Infinity;
  }

  set(state: unknown, readAt: number): void {
    this.readAt = readAt;
    this.at = new Date().toISOString();
    const text = JSON.stringify(state);
    if (text === this.#text) return;
    this.#text = text;
    this.#state = state;
    this.#views.clear();
  }

  view({ show }: TopicSource, permissions: readonly string[]): View {
    const key = show === undefined ? "" : permissions.join();
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    const isShownWhole = show === undefined || this.#state === null;
    const json = isShownWhole ? this.#text : JSON.stringify(show(this.#state, permissions));
    const view = { json, version: hash("sha1", json, "base64url").slice(0, VERSION_LENGTH) };
    this.#views.set(key, view);
    return view;
  }
}

interface OpenStream {
  watcher: Watcher;
  readonly sink: EventSink;
  readonly topics: readonly { readonly topic: Topic; readonly watched: WatchedTopic }[];
  /** The version that the reader has of each topic; empty for none. */
  readonly versions: string[];
  readonly sentAt: number[];
  /** Names the topics and their order. */
  readonly topicsVersion: string;
}

export interface LiveStreamLimits {
  readonly eventStreams: Limit;
  readonly eventStreamsOfWorkspace: Limit;
  readonly eventStreamsOfCaller: Limit;
}

export class LiveStreams {
  readonly #sources: Readonly<Record<TopicKind, TopicSource>>;
  readonly #rights: TopicRights;
  readonly #readAccess: ReadAccess;
  readonly #limits: LiveStreamLimits;
  readonly #faults: RepeatedFaults;
  readonly #shares = new HeldShares();
  readonly #streams = new Set<OpenStream>();
  readonly #watched = new Map<string, WatchedTopic>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #hasNew = false;
  #begunAt = -Infinity;
  #accessAt = -Infinity;

  constructor(deps: {
    readonly sources: Readonly<Record<TopicKind, TopicSource>>;
    readonly rights: TopicRights;
    readonly readAccess: ReadAccess;
    readonly limits: LiveStreamLimits;
    readonly log: Log;
  }) {
    this.#sources = deps.sources;
    this.#rights = deps.rights;
    this.#readAccess = deps.readAccess;
    this.#limits = deps.limits;
    this.#faults = new RepeatedFaults(deps.log);
  }

  /**
   * A stream of these topics, which the watcher may watch.
   * @param lastEventId of the request; a header Last-Event-ID takes precedence
   * @throws ApiError RATE_LIMIT_EXCEEDED, or 503, if there are too many streams
   */
  open(watcher: Watcher, topics: readonly Topic[], lastEventId: string | undefined): EventStream {
    const { eventStreams, eventStreamsOfWorkspace, eventStreamsOfCaller } = this.#limits;
    const taken = this.#shares.take([
      { limit: eventStreamsOfCaller, holder: watcher.holder },
      { limit: eventStreamsOfWorkspace, holder: watcher.workspaceId },
      { limit: eventStreams, holder: ALL },
    ]);
    if ("reached" in taken) throw shareRefusal(taken.reached);
    const { held } = taken;
    return new EventStream(
      (sink, header) => {
        const stream = this.#add(watcher, topics, sink, header ?? lastEventId);
        sink.onEnd(() => {
          held.release();
          this.#remove(stream);
        });
      },
      () => held.release(),
    );
  }

  #add(
    watcher: Watcher,
    topics: readonly Topic[],
    sink: EventSink,
    lastEventId: string | undefined,
  ): OpenStream {
    const topicsVersion = versionOf(topics.map(({ name }) => name).join());
    const stream: OpenStream = {
      watcher,
      sink,
      topics: topics.map((topic) => ({ topic, watched: this.#watch(watcher, topic) })),
      versions: versionsOf(lastEventId, topicsVersion, topics.length),
      sentAt: topics.map(() => -Infinity),
      topicsVersion,
    };
    this.#streams.add(stream);
    this.#hasNew = true;
    if (!this.#isReading) this.#readIn(FIRST_MS);
    return stream;
  }

  #watch({ workspaceId, timezone }: Watcher, { kind, name, id }: Topic): WatchedTopic {
    const key = `${workspaceId} ${name}`;
    const known = this.#watched.get(key);
    const watched = known ?? new WatchedTopic(kind, { workspaceId, timezone, id });
    if (known === undefined) this.#watched.set(key, watched);
    watched.watchers += 1;
    return watched;
  }

  #remove(stream: OpenStream): void {
    if (!this.#streams.delete(stream)) return;
    for (const { topic, watched } of stream.topics) {
      watched.watchers -= 1;
      if (watched.watchers === 0) this.#watched.delete(`${stream.watcher.workspaceId} ${topic.name}`);
    }
    if (this.#streams.size === 0) clearTimeout(this.#timer);
  }

  #readIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), milliseconds).unref();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#hasNew = false;
    this.#begunAt = performance.now();
    try {
      // First, so that no caller gets a state that it may not see any more.
      await this.#endLostStreams();
      await this.#readStates();
      for (const stream of this.#streams) this.#sendChanges(stream);
    } catch (err) {
      // While the service stops, the database may be closed first.
      if (this.#streams.size > 0) {
        const fault = { kind: "streams", level: "error", message: "live states could not be read" } as const;
        this.#faults.note({ ...fault, fields: { err } }, "streamEvents");
      }
    } finally {
      this.#isReading = false;
      if (this.#streams.size > 0) this.#readIn(this.#hasNew ? FIRST_MS : TICK_MS);
    }
  }

  /** Ends the streams of keys and sessions that have ended, or that lack a permission for one of the topics. */
  async #endLostStreams(): Promise<void> {
    if (this.#begunAt - this.#accessAt < ACCESS_MS - EARLY_MS) return;
    const streams = [...this.#streams];
    // A session may watch several workspaces.
    const nameOf = ({ workspaceId, holder }: Watcher) => `${workspaceId} ${holder}`;
    const watchers = [...new Map(streams.map(({ watcher }) => [nameOf(watcher), watcher])).values()];
    const allowed = await this.#readAccess(watchers);
    const access = new Map(watchers.map((watcher, place) => [nameOf(watcher), allowed[place]]));
    this.#accessAt = this.#begunAt;
    for (const stream of streams) {
      const permissions = access.get(nameOf(stream.watcher));
      const isLost =
        permissions === undefined ||
        stream.topics.some(({ topic }) => this.#rights.lackingFor(topic, permissions) !== undefined);
      if (isLost) {
        stream.sink.send(streamEndText("access_lost"));
        stream.sink.end();
        this.#remove(stream);
      } else stream.watcher = { ...stream.watcher, permissions };
    }
  }

  async #readStates(): Promise<void> {
    const due = [...this.#watched.values()].filter(
      ({ kind, readAt }) => this.#begunAt - readAt >= this.#sources[kind].everyMs - EARLY_MS,
    );
    for (const [kind, topics] of Map.groupBy(due, (topic) => topic.kind)) {
      const states = await this.#sources[kind].read(topics.map(({ subject }) => subject));
      for (const [place, topic] of topics.entries()) topic.set(states[place] ?? null, this.#begunAt);
    }
  }

  #sendChanges(stream: OpenStream): void {
    let text = "";
    const now = performance.now();
    for (const [place, { topic, watched }] of stream.topics.entries()) {
      if (!watched.isRead || now - (stream.sentAt[place] ?? 0) < TICK_MS - EARLY_MS) continue;
      const { json, version } = watched.view(this.#sources[topic.kind], stream.watcher.permissions);
      if (version === stream.versions[place]) continue;
      stream.versions[place] = version;
      stream.sentAt[place] = now;
      const data = `{"topic":${JSON.stringify(topic.name)},"at":"${watched.at}","state":${json}}`;
      text += eventText(topic.kind, data, [stream.topicsVersion, ...stream.versions].join("."));
    }
    if (text !== "") stream.sink.send(text);
  }
}

function versionOf(text: string): string {
  return hash("sha1", text, "base64url").slice(0, VERSION_LENGTH);
}

/** The versions in an event id; none, if it is of other topics or not of this service. */
function versionsOf(lastEventId: string | undefined, topicsVersion: string, topics: number): string[] {
  const none = Array.from({ length: topics }, () => "");
  if (lastEventId === undefined || lastEventId.length > LONGEST_ID) return none;
  const [ofTopics, ...versions] = lastEventId.trim().split(".");
  return ofTopics === topicsVersion && versions.length === topics ? versions : none;
}
