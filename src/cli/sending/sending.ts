/** `posthaste sending hold|release|status`: whether this installation sends anything at all. */

import type { Command } from "commander";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { withInstallation } from "#cli/command/database.ts";
import { json } from "#cli/command/output.ts";
import { discardWaiting } from "#delivery/hold/discard-waiting.ts";
import { deleteHold, findHold, insertHold, lockHold, type SendingHold } from "#delivery/hold/store.ts";
import { postponeExpiry } from "#delivery/queue/queue-store.ts";
import { systemClock } from "#platform/clock.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { createReactions } from "#processes/reactions.ts";
import { describeHalted, describeWaitingWork } from "./describe-waiting-work.ts";
import { countWaitingWork, type WaitingWork } from "./waiting-work-store.ts";

interface ReleaseOptions {
  readonly discardWaiting?: true;
  readonly json?: true;
}

interface Status extends WaitingWork {
  readonly is_held: boolean;
  readonly held_at: Date | null;
  readonly backup_at: Date | null;
}

/** The counts are 0 without --discard-waiting. */
interface Released extends Status {
  readonly discarded_messages: number;
  readonly not_due_messages: number;
  readonly leased_messages: number;
}

export function addSendingCommands(program: Command, { stdout, environment }: CliOptions): void {
  const sending = program.command("sending").description("hold or release everything that is sent");
  sending
    .command("hold")
    .description("send nothing from now on: no mail, no SMS, no webhooks; mail is still accepted, and waits")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const status = await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          await insertHold(tx, null);
          return readStatus(tx);
        }),
      );
      stdout.write(options.json ? json(status) : describe(status));
    });
  sending
    .command("release")
    .description("send again, beginning with what has waited")
    .option(
      "--discard-waiting",
      "cancel the messages that waited and were due when sending was held, instead of sending them",
    )
    .option("--json", "print JSON")
    .action(async (options: ReleaseOptions) => {
      const released = await withInstallation(environment, async (db) => {
        const hold = await findHold(db);
        if (hold === undefined)
          throw new Error(
            "sending is not held, so there is nothing to release: messages leave when they are due",
          );
        const discarded =
          options.discardWaiting === true
            ? await discardWaiting(db, hold, createReactions(systemClock))
            : { cancelled: 0, leased: 0, notYetDue: 0 };
        return db.transaction(async (tx) => {
          await lockHold(tx, hold);
          await postponeExpiry(tx, hold.backup_at ?? hold.held_at);
          await deleteHold(tx);
          return {
            discarded_messages: discarded.cancelled,
            not_due_messages: discarded.notYetDue,
            leased_messages: discarded.leased,
            ...(await readStatus(tx)),
          };
        });
      });
      if (options.json) stdout.write(json(released));
      else stdout.write(describeDiscarded(released) + describeReleased(released));
    });
  sending
    .command("status")
    .description("say whether sending is held, and what waits")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const status = await withInstallation(environment, readStatus);
      stdout.write(options.json ? json(status) : describe(status));
    });
}

/** What --discard-waiting did; empty without it. */
function describeDiscarded(released: Released): string {
  const { discarded_messages, not_due_messages, leased_messages } = released;
  const lines = [
    discarded_messages > 0 && `${counted(discarded_messages, "message")} cancelled.`,
    not_due_messages > 0 &&
      `${counted(not_due_messages, "message")} kept: not yet due when sending was held.`,
    leased_messages > 0 &&
      `${counted(leased_messages, "message")} not cancelled: a delivery process has them in delivery.`,
  ];
  return lines.map((line) => (line === false ? "" : `${line}\n`)).join("");
}

async function readStatus(db: Queryable): Promise<Status> {
  const hold = await findHold(db);
  return {
    is_held: hold !== undefined,
    held_at: hold?.held_at ?? null,
    backup_at: hold?.backup_at ?? null,
    ...(await countWaitingWork(db)),
  };
}

function describe({ held_at, backup_at, ...work }: Status): string {
  if (held_at === null) return `Sending is not held: messages leave when they are due.\n${beingSent(work)}`;
  const waiting = describeWaitingWork(work);
  const hold: SendingHold = { held_at, backup_at };
  return `${holdSentence(hold)}\n${(waiting && `Waiting:\n${waiting}`) + describeHalted(work) || "Nothing waits.\n"}`;
}

function describeReleased(released: Released): string {
  const nothing = released.discarded_messages > 0 ? "Nothing else was waiting." : "Nothing was waiting.";
  return `Sending is released: messages leave when they are due.\n${beingSent(released) || `${nothing}\n`}`;
}

function beingSent(work: WaitingWork): string {
  const waiting = describeWaitingWork(work);
  return (waiting && `Being sent:\n${waiting}`) + describeHalted(work);
}

function holdSentence({ held_at, backup_at }: SendingHold): string {
  const cause = backup_at === null ? "" : `, after the restore of a backup of ${backup_at.toISOString()}`;
  return `Sending is held since ${held_at.toISOString()}${cause}.`;
}
