/** D6: finding the message of a bounce. */
import { createSecretKey } from "node:crypto";
import { findSentMessage } from "#inbound/returns/sent-message-store.ts";
import { decodeReturnPath, encodeReturnPath } from "#mail/bounces/verp.ts";
import type { Figure } from "../table.ts";
import { compare, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";

const MOST_MS = 2;
const ROUNDS = 51;
const key = createSecretKey(Buffer.alloc(32));

export async function compareBounceLookUps(large: Installation, small: Installation): Promise<Figure[]> {
  const cost = async ({ database, log }: Installation) => {
    const number = Math.floor(Math.random() * log.count);
    const messageId = log.idOf(number);
    const returnPath = encodeReturnPath(log.workspaceOf(number), messageId, key);
    let found: unknown;
    const taken = await timeOf(async () => {
      const named = decodeReturnPath(returnPath, key);
      found = named && (await findSentMessage(database, named));
    });
    if (found == null) throw new Error(`the message ${messageId} was not found`);
    return taken;
  };
  const what = "D6 look-up of a bounced message";
  return [await compare({ what, large, small, cost, rounds: ROUNDS, mostMs: MOST_MS })];
}
