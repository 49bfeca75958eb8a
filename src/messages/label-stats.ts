/** The report of messages by tag and metadata. */
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { windowField } from "#platform/http/request/query.ts";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { messageFilterFields } from "./find-messages.ts";
import { countLabelled, MOST_LABELLED } from "./label-stats-store.ts";
import type { Label } from "./labels-store.ts";
import { storedStatuses } from "./message/status.ts";
import { reports } from "./permission.ts";

const MOST_DAYS = 90;

const messagesWith = (status: string) =>
  Type.Integer({ description: `Of these, messages that are ${status}.` });

const LabelStats = Type.Object(
  {
    window_days: Type.Integer({ description: "Number of days up to now that were counted." }),
    messages: Type.Integer({ description: "Messages that were accepted in these days." }),
    by_status: Type.Object(
      Object.fromEntries(storedStatuses.map((status) => [status, messagesWith(status)])) as Record<
        (typeof storedStatuses)[number],
        ReturnType<typeof messagesWith>
      >,
      { description: "The messages by their state; `queued` includes those that are being sent." },
    ),
    opened: Type.Integer({ description: "Messages that were opened by a person." }),
    clicked: Type.Integer({ description: "Messages with a link that was clicked by a person." }),
    counted_since: nullable(
      described(
        Timestamp,
        `Older messages were not counted, because there are more than ${MOST_LABELLED.toLocaleString("en")}; null when all were.`,
      ),
    ),
  },
  { $id: "LabelStats" },
);

export function labelStatsEndpoint({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): Endpoint {
  return endpoint({
    id: "getLabelStats",
    method: "GET",
    path: "/stats/labels",
    mayTakeLong: "reading",
    summary: "Outcomes of the messages with a tag, or with a value of metadata",
    description: `Counts the messages of POST /emails that have the tag, the metadata or both, by state. Up to ${MOST_LABELLED.toLocaleString("en")} of the newest messages are counted; \`counted_since\` says where the count ended. \`GET /messages\` with the same parameters lists them.`,
    needs: need(reports, "read"),
    query: {
      tag: messageFilterFields.tag,
      metadata: messageFilterFields.metadata,
      window_days: windowField(MOST_DAYS),
    },
    answer: LabelStats,
    message: "Messages with the label",
    async handle({ caller: { workspaceId }, query: { tag, metadata, window_days } }) {
      const [first, ...rest] = [metadata, tag === undefined ? undefined : { tag }].filter(
        (label): label is Label => label !== undefined,
      );
      if (first === undefined) {
        throw invalid({ field: "tag", message: "tag or metadata is required" });
      }
      const from = new Date(clock.now().getTime() - window_days * DAY_MS);
      const { messages, opened, clicked, since, ...by_status } = await countLabelled(
        db,
        workspaceId,
        [first, ...rest],
        from,
      );
      const answer: Static<typeof LabelStats> = {
        window_days,
        messages,
        by_status,
        opened,
        clicked,
        counted_since: since,
      };
      return answer;
    },
  });
}
