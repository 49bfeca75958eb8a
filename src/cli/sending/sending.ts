/** `posthaste sending hold|release|status`: whether this installation sends anything at all. */

import type { Command } from "commander";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { withDatabase } from "#cli/command/database.ts";
import { json } from "#cli/command/output.ts";
import { discardWaiting } from "#delivery/hold/discard-waiting.ts";
import { deleteHold, findHold, insertHold, type SendingHold } from "#delivery/hold/store.ts";
import { systemClock } from "#platform/clock.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { createReactions } from "#processes/reactions.ts";
import { describeWaitingWork } from "./describe-waiting-work.ts";
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

export function addSendingCommands(program: Command, { stdout, environment }: CliOptions): void {
  const sending = program.command("sending").description("hold or release everything that is sent");
  sending
    .command("hold")
    .description("send nothing from now on: no mail, no SMS, no webhooks; mail is still accepted, and waits")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const status = await withDatabase(environment, (db) =>
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
      "cancel the messages that waited when sending was held, instead of sending them",
    )
    .option("--json", "print JSON")
    .action(async (options: ReleaseOptions) => {
      const released = await withDatabase(environment, async (db) => {
        const hold = await findHold(db);
        if (hold === undefined) throw new Error("sending is not held: nothing was released or discarded");
        const discarded =
          options.discardWaiting === true
            ? await discardWaiting(db, hold.held_at, createReactions(systemClock))
            : 0;
        return db.transaction(async (tx) => {
          await deleteHold(tx);
          return { discarded_messages: discarded, ...(await readStatus(tx)) };
        });
      });
      if (options.json) stdout.write(json(released));
      else {
        const { discarded_messages: discarded } = released;
        if (discarded > 0) stdout.write(`${counted(discarded, "message")} cancelled.\n`);
        stdout.write(describe(released));
      }
    });
  sending
    .command("status")
    .description("say whether sending is held, and what waits")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const status = await withDatabase(environment, readStatus);
      stdout.write(options.json ? json(status) : describe(status));
    });
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
  const waiting = describeWaitingWork(work);
  if (held_at === null) return `Sending is not held.\n${waiting && `Being sent:\n${waiting}`}`;
  const hold: SendingHold = { held_at, backup_at };
  return `${holdSentence(hold)}\n${waiting ? `Waiting:\n${waiting}` : "Nothing waits.\n"}`;
}

function holdSentence({ held_at, backup_at }: SendingHold): string {
  const cause = backup_at === null ? "" : `, after the restore of a backup of ${backup_at.toISOString()}`;
  return `Sending is held since ${held_at.toISOString()}${cause}.`;
}
