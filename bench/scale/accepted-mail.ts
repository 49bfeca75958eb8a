/**
 * D2: mail from its acceptance to its delivery, as the message log has it: the insert, and two changes of status. A batch
 * has mail of as many workspaces as the small installation has, and then of as many as possible.
 */
import { settleLeases } from "#delivery/queue/settle-leases-store.ts";
import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { type Draft, insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { nobodyElse } from "#test/support/drafts.ts";
import type { Figure } from "../table.ts";
import { compare, spreadNumbers, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";
import { draftsFor } from "./seed-waiting.ts";

const BATCH = 500;

export async function compareAcceptedMail(large: Installation, small: Installation): Promise<Figure[]> {
  const few = small.size.workspaces;
  const inserted = new Map<Installation, Draft[]>();
  const insertOf = (most: number) => async (side: Installation) => {
    await settle(side, inserted.get(side) ?? []);
    const drafts = draftsFor(spreadNumbers(BATCH, side.size.workspaces, most));
    inserted.set(side, drafts);
    return timeOf(() => insertDrafts(side.database, drafts));
  };
  const moveOf = (most: number) => async (side: Installation) => {
    await insertOf(most)(side);
    const messages = (inserted.get(side) ?? []).map(({ message }) => message);
    const record = (status: Outcome["status"]) => {
      const outcomes = messages.map(({ workspaceId, id }) => outcomeOf(workspaceId, id, status));
      return side.database.transaction((tx) => recordOutcomes(tx, outcomes, nobodyElse));
    };
    return timeOf(async () => {
      await record("deferred");
      await record("delivered");
    });
  };
  const figures: Figure[] = [];
  // With mail of more workspaces a batch writes more rows, however large the installation is.
  for (const { most, whose, aim } of [
    { most: few, whose: `of ${few} workspaces`, aim: {} },
    { most: BATCH, whose: "of all workspaces", aim: { mostRatio: null } },
  ]) {
    const sides = { large, small, ...aim };
    const insertion = { what: `D2 insert of ${BATCH} messages ${whose}`, cost: insertOf(most) };
    const moves = { what: `D2 two changes of status ${whose}`, cost: moveOf(most) };
    figures.push(await compare({ ...sides, ...insertion }), await compare({ ...sides, ...moves }));
  }
  for (const side of [large, small]) await settle(side, inserted.get(side) ?? []);
  return figures;
}

/** Takes the messages out of the delivery queue. */
async function settle({ database }: Installation, drafts: readonly Draft[]): Promise<void> {
  const settlements = drafts.map(({ message: { workspaceId, id: messageId } }) => ({
    workspaceId,
    messageId,
    leaseNumber: 0,
    attempts: 1,
    dueAt: null,
    decidedAt: new Date(),
    isDelivered: true,
  }));
  await database.transaction((tx) => settleLeases(tx, settlements));
}

function outcomeOf(
  workspaceId: Outcome["workspaceId"],
  messageId: string,
  status: Outcome["status"],
): Outcome {
  const isDelivered = status === "delivered";
  return {
    ...unclassified,
    workspaceId,
    messageId,
    status,
    time: new Date(),
    attempts: isDelivered ? 2 : 1,
    nextAttemptAt: null,
    detail: isDelivered ? "250 2.0.0 OK" : "451 4.7.1 Try again later",
    mxHost: "mx.receiver.test",
    code: isDelivered ? 250 : 451,
    enhancedCode: isDelivered ? "2.0.0" : "4.7.1",
    isAddressFault: false,
  };
}
