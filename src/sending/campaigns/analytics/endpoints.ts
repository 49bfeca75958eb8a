/** The endpoints of campaign results: activity, domains, messages, links. */
import { type Static, Type } from "typebox";
import { mostLinks } from "#mail/html/tag-positions.ts";
import { DomainStats, withShare } from "#messages/domain-stats-shape.ts";
import { recipientField, SearchedSince } from "#messages/find-messages.ts";
import { messageStatuses } from "#messages/message/status.ts";
import { listMessages } from "#messages/store.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import {
  choiceField,
  cursorFields,
  maybeField,
  pageFields,
  type QueryField,
  textField,
} from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, NullableTimestamp, nullable, Times, Timestamp } from "#platform/shapes.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { CampaignLink } from "#sending/campaigns/links/campaign-link.ts";
import { activitySeries } from "./activity-series.ts";
import { activityTypes, describeActivity } from "./describe-activity.ts";
import { findCampaignMessages } from "./list-campaign-messages.ts";
import { requireLink } from "./require-link.ts";
import { listEngagement, MOST_RECIPIENTS_READ, scanRecipients } from "./scan-recipients-store.ts";
import {
  type ActivityRow,
  countActivities,
  countDomains,
  findLinkActivity,
  listActivities,
  listDomains,
  listHours,
  listLinks,
} from "./store.ts";

const Count = Type.Integer();

const ActivityHour = Type.Object(
  {
    time: described(Timestamp, "End of the hour, in UTC."),
    sent: Type.Integer({ description: "Messages that had their first attempt, whatever its result." }),
    opens: described(Count, "Opens by people up to then."),
    clicks: described(Count, "Clicks by people up to then."),
    unsubscribes: described(Count, "People who had unsubscribed by then."),
    complaints: described(Count, "Messages reported as spam by then."),
  },
  { $id: "CampaignHour" },
);

const CampaignMessage = Type.Object(
  {
    id: described(Id, "Id of the message."),
    time: described(Timestamp, "When the message was made, in UTC."),
    localpart: Type.String({ description: "The recipient's address before the @." }),
    domain: Type.String({ description: "The recipient's address after the @." }),
    status: Type.Enum([...messageStatuses], { description: "State of the message." }),
    attempts: described(Count, "Attempts to deliver it."),
    error_message: nullable(Type.String({ description: "Last reply or reason; null if there was none." })),
    next_attempt_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "For deferred messages; otherwise null.",
    }),
    subscriber_id: nullable({
      ...Id,
      description: "The person it went to; null when that is no longer known.",
    }),
    first_opened_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description:
        "When the recipient first opened it or clicked in it; null if neither. Programs do not count.",
    }),
    first_clicked_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When the recipient first clicked in it; null if never. Programs do not count.",
    }),
    unsubscribed_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When the recipient unsubscribed through it; null if never.",
    }),
  },
  { $id: "CampaignMessage" },
);

const CampaignActivity = Type.Object(
  {
    id: described(Id, "Id of the activity."),
    type: Type.Enum([...activityTypes], {
      description: "`sent`: the recipient's server accepted the message.",
    }),
    email: Type.String({ description: "Address of the recipient." }),
    description: Type.String({ description: "What happened, for people." }),
    times: Times,
    timestamp: described(Timestamp, "When it happened, in UTC."),
  },
  { $id: "CampaignActivity" },
);

/** Thirty days. */
const MOST_LINK_HOURS = 720;

const CampaignLinkActivity = Type.Object(
  {
    ...CampaignLink.properties,
    first_clicked_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When a person first clicked the link; null without a click in the message log.",
    }),
    last_clicked_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When a person last clicked the link; null without a click in the message log.",
    }),
    hours: Type.Array(
      Type.Object(
        {
          time: Type.Unsafe<Date>({ ...Timestamp, description: "The beginning of the hour, in UTC." }),
          clicks: Type.Integer({ description: "Clicks by people in this hour." }),
        },
        { $id: "CampaignLinkHour" },
      ),
      { description: "The hours with clicks in the 30 days after the first one, oldest first." },
    ),
  },
  { $id: "CampaignLinkActivity", description: "A tracked link with the times of its clicks." },
);

const read = `Searched in ${MOST_RECIPIENTS_READ.toLocaleString("en-US")} recipients a call: next_cursor continues the search.`;

const linkField: QueryField<number | undefined> = {
  schema: Type.Integer({
    minimum: 0,
    maximum: 32_767,
    description: `Only recipients who clicked the link with this \`index\` of the campaign's links. ${read}`,
  }),
  read(text, name) {
    if (!text?.trim()) return undefined;
    const index = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (index <= 32_767) return index;
    throw invalid({ field: name, message: `${name} must be the index of a link, such as 0` });
  },
};

const linkIndexField: QueryField<number> = {
  schema: Type.Integer({
    minimum: 0,
    maximum: 32_767,
    default: 0,
    description: "The `index` of the link among the campaign's links; 0 when absent.",
  }),
  read: (text, name) => linkField.read(text, name) ?? 0,
};

/** Filters by what the recipients did. */
const engagementFields = {
  opened: maybeField(`Only messages that the recipient opened or clicked in; false: neither. ${read}`),
  clicked: maybeField(`Only messages that the recipient clicked in; false: the others. ${read}`),
  link: linkField,
  machine: maybeField(`Only messages that a program opened or clicked in; false: the others. ${read}`),
  unsubscribed: maybeField(
    `Only messages through which the recipient unsubscribed; false: the others. ${read} With true, only those who unsubscribed are read.`,
  ),
  domain: textField(253, `The recipient's domain, in any case and either script. ${read}`),
};

export function campaignAnalyticsEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  return [
    endpoint({
      id: "getCampaignActivity",
      method: "GET",
      path: "/campaigns/{id}/activity",
      mayTakeLong: "reading",
      summary: "Activity of a campaign since it was sent, hour by hour, cumulative",
      description: "One entry an hour with the sums up to then, for a chart.",
      needs: need(campaigns, "read"),
      answer: Type.Array(ActivityHour),
      message: "Campaign activity",
      async handle({ caller: { workspaceId }, params }) {
        const { sent_at } = await requireCampaignState(db, workspaceId, params.id);
        return activitySeries(sent_at, await listHours(db, workspaceId, params.id));
      },
    }),
    endpoint({
      id: "getCampaignDomainStats",
      method: "GET",
      path: "/campaigns/{id}/smtp-domain-stats",
      mayTakeLong: "reading",
      summary: "Delivery results by recipient domain, largest first",
      description:
        "How the messages fared at each recipient domain. Use it to see which mailbox provider refuses or delays mail.",
      needs: need(campaigns, "read"),
      query: pageFields(),
      answer: pageOf("stats", DomainStats),
      message: "Delivery by domain",
      async handle({ caller: { workspaceId }, params, query }) {
        await requireCampaignState(db, workspaceId, params.id);
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [rows, { domains, messages }] = await Promise.all([
          listDomains(db, workspaceId, params.id, page),
          countDomains(db, workspaceId, params.id),
        ]);
        return {
          stats: rows.map((row) => withShare(row, messages)),
          pagination: pagination(query, domains),
        };
      },
    }),
    endpoint({
      id: "listCampaignMessages",
      method: "GET",
      path: "/campaigns/{id}/messages",
      mayTakeLong: "reading",
      summary: "The messages of a campaign with their status",
      description:
        "Every message with its state and last reply. For long lists follow `pagination.next_cursor`.",
      needs: need(campaigns, "read"),
      query: {
        status: choiceField(messageStatuses, "Only messages in this status."),
        email: recipientField,
        ...engagementFields,
        ...cursorFields(),
      },
      answer: Type.Object({
        ...pageOf("messages", CampaignMessage).properties,
        searched_since: SearchedSince,
      }),
      message: "Campaign messages",
      async handle({ caller: { workspaceId }, params, query }) {
        await requireCampaignState(db, workspaceId, params.id);
        const { status, email, opened, clicked, link, machine, unsubscribed, domain } = query;
        await requireLink(db, workspaceId, params.id, link);
        const did = { opened, clicked, link, machine, unsubscribed, domain };
        const given = Object.entries(did)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => `${name}=${value}`);
        const walk = new ListPage(
          query,
          "listCampaignMessages",
          workspaceId,
          params.id,
          status,
          email,
          ...given,
        );
        const found =
          given.length > 0
            ? await scanRecipients(db, workspaceId, params.id, { status, email, ...did }, walk.page)
            : {
                ...(await findCampaignMessages(db, workspaceId, params.id, { status, email }, walk.page)),
                searchedTo: null,
              };
        const restAfter = found.searchedTo;
        const { rows, pagination } = walk.shown(found.rows, found.total, ({ place }) => place, { restAfter });
        const ids = rows.map(({ id }) => id);
        return {
          messages: await describeMessages(db, workspaceId, ids),
          searched_since: found.since,
          pagination,
        };
      },
    }),
    endpoint({
      id: "listCampaignActivities",
      method: "GET",
      path: "/campaigns/{id}/recent-activity",
      mayTakeLong: "reading",
      summary: "Recent activity of recipients, newest first",
      description: "Opens, clicks, unsubscriptions and complaints as they come in.",
      needs: need(campaigns, "read"),
      query: pageFields(),
      answer: pageOf("activities", CampaignActivity),
      message: "Recent activity",
      async handle({ caller: { workspaceId }, params, query }) {
        await requireCampaignState(db, workspaceId, params.id);
        const page = { limit: query.limit, offset: offsetOf(query) };
        const total = await countActivities(db, workspaceId, params.id);
        // A page beyond the end must not read all events before it.
        const rows = page.offset >= total ? [] : await listActivities(db, workspaceId, params.id, page);
        return { activities: rows.map(activityOf), pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "listCampaignLinks",
      method: "GET",
      path: "/campaigns/{id}/links",
      mayTakeLong: "reading",
      summary: "The tracked links of a campaign with their clicks",
      description: `Each link of the content with the clicks by people, in the order of the content: all of them, at most ${mostLinks.toLocaleString("en")}, which is what one mail can have.`,
      needs: need(campaigns, "read"),
      answer: Type.Array(CampaignLink),
      message: "Campaign links",
      async handle({ caller: { workspaceId }, params }) {
        await requireCampaignState(db, workspaceId, params.id);
        return listLinks(db, workspaceId, params.id);
      },
    }),
    endpoint({
      id: "getCampaignLinkActivity",
      method: "GET",
      path: "/campaigns/{id}/links/activity",
      mayTakeLong: "reading",
      summary: "When a link of a campaign was clicked, hour by hour",
      description:
        "First and last click, and clicks by hour for the 30 days after the first. It is read from the message log, so it is complete as long as the log is kept.",
      needs: need(campaigns, "read"),
      query: { link: linkIndexField },
      answer: CampaignLinkActivity,
      message: "Clicks of the link",
      errors: ["NOT_FOUND"],
      async handle({ caller: { workspaceId }, params, query }) {
        await requireCampaignState(db, workspaceId, params.id);
        const { link: index } = query;
        return required(
          await findLinkActivity(db, workspaceId, params.id, index, MOST_LINK_HOURS),
          "Link of this campaign",
        );
      },
    }),
  ];
}

/** In the order of their ids. */
async function describeMessages(
  db: Database,
  workspaceId: WorkspaceId,
  ids: readonly string[],
): Promise<Static<typeof CampaignMessage>[]> {
  const [messages, engagement] = await Promise.all([
    listMessages(db, workspaceId, ids),
    listEngagement(db, workspaceId, ids),
  ]);
  const byMessage = new Map(engagement.map((one) => [one.id, one]));
  return messages.map((message) => {
    const { id, time, localpart, domain, status, attempts, error_message, next_attempt_at } = message;
    return {
      id,
      time,
      localpart,
      domain,
      status,
      attempts,
      error_message,
      next_attempt_at,
      ...(byMessage.get(id) ?? notEngaged),
    };
  });
}

const notEngaged = {
  subscriber_id: null,
  first_opened_at: null,
  first_clicked_at: null,
  unsubscribed_at: null,
};

function activityOf({ id, email, time, ...event }: ActivityRow): Static<typeof CampaignActivity> {
  return { id, email, timestamp: time, ...describeActivity(event) };
}
