/** Checks whether old days of the message log can be moved to the tablespace of MESSAGE_ARCHIVE_TABLESPACE. */
import { hasTablespace } from "#messages/partitions/archive-store.ts";
import type { Config } from "#platform/config/config.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Finding, of } from "./finding.ts";

/** Nothing when the setting is empty. */
export async function checkArchive(
  db: Database,
  { MESSAGE_ARCHIVE_TABLESPACE: name, MESSAGE_ARCHIVE_DAYS: days }: Config,
): Promise<Finding[]> {
  if (name === null) return [];
  const say = of("archive");
  return (await hasTablespace(db, name))
    ? [say("ok", `Days of the message log that are ${days} days old go to the tablespace ${name}.`)]
    : [
        say(
          "fault",
          `MESSAGE_ARCHIVE_TABLESPACE is ${name}, and there is no such tablespace that the database user may create tables in. Create it (docs/operations.md#move-old-days-to-cheaper-storage), or empty the setting.`,
        ),
      ];
}
