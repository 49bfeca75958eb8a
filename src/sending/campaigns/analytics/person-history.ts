/** What campaigns and autoresponders know of one person, for the full picture of a subscriber. */
import type { History } from "#audience/subscribers/subscriber.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { describeActivity } from "./activity.ts";
import { listActivitiesOf, listBouncesOf } from "./person-history-store.ts";

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
    bounces,
  };
}
