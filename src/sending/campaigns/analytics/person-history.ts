/** What campaigns know of one person, for the full picture of a subscriber. */
import type { History } from "../../../audience/subscribers/subscriber.ts";
import { classifyReply } from "../../../mail/refusals/smtp-reply.ts";
import type { Queryable } from "../../../platform/database/pool.ts";
import type { WorkspaceId } from "../../../platform/ids.ts";
import { describeActivity } from "./activity.ts";
import { listActivitiesOf, listBouncesOf, type PersonBounceRow } from "./store.ts";

const MOST_ACTIVITIES = 50;
const MOST_BOUNCES = 20;

export async function mailHistoryOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberId: string,
): Promise<Pick<History, "recent_activity" | "bounces">> {
  const [activities, bounces] = await Promise.all([
    listActivitiesOf(db, workspaceId, subscriberId, MOST_ACTIVITIES),
    listBouncesOf(db, workspaceId, subscriberId, MOST_BOUNCES),
  ]);
  return {
    recent_activity: activities.map(({ id, campaign_id, campaign_name, message_id, time, ...event }) => ({
      id,
      ...describeActivity(event),
      campaign_id,
      campaign_name,
      message_id,
      timestamp: time,
    })),
    bounces: bounces.map(bounceOf),
  };
}

/** What kind of bounce it was, judged by what the receiver said. */
function bounceOf({ id, code, enhanced_code, detail, message_id, campaign_id, time }: PersonBounceRow) {
  const refusal = { code, enhanced: enhanced_code, text: detail ?? "", stage: "rcpt" } as const;
  const { bounceClass, category } = classifyReply(refusal);
  return {
    id,
    bounce_type: bounceClass,
    category,
    smtp_code: code,
    enhanced_code,
    error_message: detail,
    message_id,
    campaign_id,
    created_at: time,
  };
}
