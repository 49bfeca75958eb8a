/** D3: recording the outcomes of campaigns' messages for the people who got them. */
import { type MovedMessage, unclassified } from "#messages/message/outcome.ts";
import { countRecipients } from "#sending/campaigns/counters/count-outcomes-store.ts";
import type { Figure } from "../table.ts";
import { compare, spreadNumbers, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";
import { idOf, workspaceAt } from "./seed-ids.ts";

const BATCH = 500;

export async function compareOutcomesOfPeople(large: Installation, small: Installation): Promise<Figure[]> {
  const few = small.size.workspaces;
  // A small installation has fewer recipients of each workspace (size.ts): the figures of as many are changed in both.
  const among = Math.min(large.log.recipients, small.log.recipients);
  // The same people in each round, so that what they need is in memory on both sides: the work is compared, not the disk.
  const sidesOf = (most: number) => ({
    large: { database: large.database, moved: draw(large, most, among) },
    small: { database: small.database, moved: draw(small, most, among) },
  });
  const cost = ({ database, moved }: ReturnType<typeof sidesOf>["large"]) =>
    timeOf(() => database.transaction((tx) => countRecipients(tx, moved, [])));
  const what = `D3 outcomes of ${BATCH} people`;
  return [
    await compare({ what: `${what} of ${few} workspaces`, cost, ...sidesOf(few) }),
    // People of more workspaces are in more pages, however large the installation is.
    await compare({ what: `${what} of all workspaces`, cost, mostRatio: null, ...sidesOf(BATCH) }),
  ];
}

/** Messages of up to `most` workspaces. */
function draw({ log }: Installation, most: number, among: number): MovedMessage[] {
  return spreadNumbers(BATCH, log.workspaces, most).map((workspace) =>
    deliveredTo(log.randomOfCampaign(workspace, among), workspace),
  );
}

function deliveredTo(messageId: string, workspace: number): MovedMessage {
  return {
    ...unclassified,
    workspaceId: workspaceAt(workspace),
    messageId,
    source: "campaign",
    originId: idOf("campaign", workspace),
    originName: "Campaign",
    fromEmail: "shop@sender.test",
    isSms: false,
    localpart: "person",
    domain: "mail.test",
    from: "queued",
    status: "delivered",
    time: new Date(),
    attempts: 1,
    nextAttemptAt: null,
    detail: "250 2.0.0 OK",
    code: 250,
    enhancedCode: "2.0.0",
    isAddressFault: false,
  };
}
