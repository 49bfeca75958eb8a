/** What the receiver counted, held against the messages that there are. */
import type { MailCount } from "#test/support/counting-mx.ts";
import { say } from "./stage.ts";

/**
 * Tells the figures; gives one sentence for each message that never came, came twice without having been in flight at a
 * kill, or came under a Message-ID of its own.
 * @param messageIds of all messages, without angle brackets
 * @param excused one copy more is right for these too
 */
export function findMiscarried(
  { copies, inDoubt, received }: MailCount,
  messageIds: readonly string[],
  excused: ReadonlySet<string> = new Set(),
): string[] {
  const known = new Set(messageIds);
  const copiesOf = (id: string) => copies.get(id) ?? 0;
  const lost = messageIds.filter((id) => copiesOf(id) === 0);
  const doubled = messageIds.filter((id) => copiesOf(id) > 1);
  const excuses = (id: string) => (inDoubt.get(id) ?? 0) + (excused.has(id) ? 1 : 0);
  const inexcusable = doubled.filter((id) => copiesOf(id) > 1 + excuses(id));
  const strange = [...copies.keys()].filter((id) => !known.has(id));
  const inDoubtTimes = [...inDoubt.values()].reduce((sum, times) => sum + times, 0);
  say(`received             ${received}, ${copies.size} different`);
  say(`lost                 ${lost.length}`);
  say(`doubled              ${doubled.length}, of them not in flight ${inexcusable.length}`);
  say(
    `in flight            ${inDoubtTimes} messages whose connection died between final dot and our next word`,
  );
  return [
    ...lost.slice(0, 3).map((id) => `lost: ${id}`),
    ...inexcusable.slice(0, 3).map((id) => `doubled though not in flight: ${id}`),
    ...strange.slice(0, 3).map((id) => `came under a Message-ID that no message has: ${id}`),
  ];
}
