/** Reads the CSV export of listmonk. */
import { openGivenFiles } from "#cli/migrate-from/given-files.ts";
import { openNamedRows } from "#cli/migrate-from/named-rows.ts";
import type { Source, SourceOptions } from "#cli/migrate-from/source.ts";
import { attributeValues, BLOCKLIST, splitName } from "./subscriber.ts";

/**
 * The CSV export does not say who unsubscribed from a list, so its people are active only if the caller says that they
 * are.
 */
export async function* readListmonkExport(path: string, { list, status, folder }: SourceOptions): Source {
  if (list === undefined || status === undefined) {
    throw new Error(
      "An export of listmonk names neither the list nor who unsubscribed from it: export each list by subscription status, and give --list NAME with --status active or --status unsubscribed. Its API says both",
    );
  }
  yield { kind: "list", key: list, name: list };
  for (const file of await openGivenFiles(path, folder)) {
    const csv = await openNamedRows(file, ["email"]);
    if (!csv.has("attributes") || !csv.has("status")) {
      throw new Error(`${file.name} is no export of listmonk: it has no columns attributes and status`);
    }
    for await (const row of csv.rows()) {
      const email = row.of("email");
      const ofPerson = row.of("status");
      if (ofPerson === "blocklisted") {
        yield { kind: "suppression", list: BLOCKLIST, value: email, status: "unsubscribed" };
      }
      yield {
        kind: "person",
        email,
        ...splitName(row.of("name")),
        row: row.fileRow,
        memberships: [{ list, status: ofPerson === "enabled" ? status : "unsubscribed" }],
        values: [
          ...attributeValues(parsed(row.of("attributes"))),
          ["signed_up_at", goTime(row.of("created_at"))],
        ],
      };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A time as Go prints it, such as "2018-10-11 09:55:14.123456 +0000 UTC". */
function goTime(text: string): string {
  return text.replace(/^(\S+) (\S+) ([+-]\d{2})(\d{2}).*$/, "$1T$2$3:$4");
}
