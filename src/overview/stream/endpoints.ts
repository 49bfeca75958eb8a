/** The stream of live states: what changes while people watch. */

import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { textField } from "#platform/http/request/query.ts";
import { eventStreamShape, StreamEnd } from "#platform/http/response/event-stream.ts";
import { listProgress } from "#sending/campaigns/progress/store.ts";
import type { LiveStreams } from "./live-streams.ts";
import { eventShapes } from "./topic-sources.ts";
import { type TopicRights, topicsField } from "./topics.ts";

interface Dependencies {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly rights: TopicRights;
  readonly streams: LiveStreams;
}

export function streamEndpoints({ db, clock, rights, streams }: Dependencies): Endpoint[] {
  return [
    endpoint({
      id: "streamEvents",
      method: "GET",
      path: "/events",
      summary: "Live states of campaigns, jobs, messages, domains and notices, as server-sent events",
      description:
        "Each event carries the whole state of its topic, at most once a second. After a lost connection, `Last-Event-ID` continues without a gap. Each topic needs the permission to read its resource. A key or session may have three streams.",
      needs: "authenticated",
      query: {
        topics: topicsField,
        last_event_id: textField(
          1_000,
          "The `id` of the last event, for clients that cannot send the header Last-Event-ID; the header takes precedence.",
        ),
      },
      answer: eventStreamShape(
        "An event for each topic at once, then whenever its state changes, at most one a second. The name of the event is the kind of its topic, its data are JSON. A comment every 15 seconds keeps the connection open.",
        { ...eventShapes, end: StreamEnd },
      ),
      errors: ["INSUFFICIENT_SCOPE", "NOT_FOUND"],
      async handle({ caller, query: { topics, last_event_id } }) {
        const { workspaceId, timezone, permissions, actor } = caller;
        rights.require(topics, permissions);
        const campaigns = topics.flatMap(({ id }) => (id === null ? [] : { workspaceId, id }));
        if (campaigns.length > 0) {
          const found = await listProgress(db, campaigns, clock.now());
          if (found.length < campaigns.length) throw notFound("Campaign");
        }
        const holder =
          actor.kind === "key"
            ? { holder: actor.id, userId: null }
            : { holder: actor.sessionId, userId: actor.id };
        const watcher = { workspaceId, timezone, permissions, ...holder };
        return streams.open(watcher, topics, last_event_id);
      },
    }),
  ];
}
