/**
 * Postal, by files of its suppression lists: its API sends and shows messages, and has neither people nor templates. A mail
 * server of Postal keeps them in the table `suppressions` of its own database, exported with a header: type, address,
 * reason, timestamp, keep_until (seconds since 1970).
 */
import { openGivenFiles } from "./given-files.ts";
import { type NamedRow, openNamedRows } from "./named-rows.ts";
import type { GivenSuppression, Source, SourceOptions } from "./source.ts";

const HARD = { list: "Postal: too many hard fails", status: "bounced" } as const;
const OTHER = { list: "Postal: suppressed", status: null } as const;

/** @throws Error with a sentence for a file that is no table, or has no column `address` */
export async function* readPostalFiles(path: string, { folder }: SourceOptions): Source {
  const now = Date.now();
  for (const file of await openGivenFiles(path, folder)) {
    const csv = await openNamedRows(file, ["address"]);
    for await (const row of csv.rows()) {
      const suppression = suppressionOf(row, now);
      if (typeof suppression !== "string") {
        yield suppression;
        continue;
      }
      const name = row.of("address");
      yield { kind: "omission", what: "suppression", where: file.name, name, reason: suppression };
    }
  }
}

/** The suppression of a row, or why it does not come. @param now milliseconds since 1970 */
function suppressionOf(row: NamedRow, now: number): GivenSuppression | string {
  const type = row.of("type");
  if (type !== "" && type !== "recipient") return `is of the type ${type}`;
  const keepUntil = row.of("keep_until");
  if (keepUntil !== "" && Number(keepUntil) * 1000 < now) return "had expired in Postal";
  const reason = row.of("reason");
  // A full mailbox or an unreachable server is no fault of the address.
  if (/soft fail/i.test(reason)) return `was suppressed for a while only: ${reason}`;
  const into = /hard fail/i.test(reason) ? HARD : OTHER;
  return { kind: "suppression", ...into, value: row.of("address") };
}
