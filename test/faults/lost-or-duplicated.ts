/** Compares the copies that the receiver counted with the messages of the service. */
import type { MailCount } from "#test/support/counting-mx.ts";
import { say } from "./fault-run.ts";

/**
 * Prints the figures. Returns one sentence for each message that did not arrive, that arrived twice without being in
 * flight at a kill, or that has an unknown Message-ID.
 * @param messageIds Message-IDs of all messages, without angle brackets
 * @param excused how many more copies a message may have, by Message-ID
 */
export function findLostOrDuplicated(
  { copies, inDoubt, received }: MailCount,
  messageIds: readonly string[],
  excused: ReadonlyMap<string, number> = new Map(),
): string[] {
  const known = new Set(messageIds);
  const copiesOf = (id: string) => copies.get(id) ?? 0;
  const lost = messageIds.filter((id) => copiesOf(id) === 0);
  const duplicated = messageIds.filter((id) => copiesOf(id) > 1);
  const excuses = (id: string) => (inDoubt.get(id) ?? 0) + (excused.get(id) ?? 0);
  const unexplained = duplicated.filter((id) => copiesOf(id) > 1 + excuses(id));
  const unknown = [...copies.keys()].filter((id) => !known.has(id));
  const inDoubtTimes = [...inDoubt.values()].reduce((sum, times) => sum + times, 0);
  say(`received             ${received}, ${copies.size} different`);
  say(`lost                 ${lost.length}`);
  say(`duplicated           ${duplicated.length}, of them not in flight ${unexplained.length}`);
  say(
    `in flight            ${inDoubtTimes} messages whose connection ended between the final dot and the next command`,
  );
  return [
    ...lost.slice(0, 3).map((id) => `lost: ${id}`),
    ...unexplained.slice(0, 3).map((id) => `duplicated without being in flight: ${id}`),
    ...unknown.slice(0, 3).map((id) => `arrived with an unknown Message-ID: ${id}`),
  ];
}
