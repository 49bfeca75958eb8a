/** Reads CSV files of SendGrid, which its pages and its API export alike. */
import { basename } from "node:path";
import { type GivenFile, openGivenFiles } from "#cli/migrate-from/given-files.ts";
import { openNamedRows } from "#cli/migrate-from/named-rows.ts";
import type { GivenPerson, Source, SourceOptions } from "#cli/migrate-from/source.ts";
import { BLOCKS_NOTE, groupList, suppressionKinds } from "./suppression-kinds.ts";

/** People who left a group are exported as asm_groups_ID_suppressions.csv. */
export async function* readSendGridFiles(path: string, { folder, list }: SourceOptions): Source {
  for (const file of await openGivenFiles(path, folder)) {
    const name = basename(file.name).replace(/\.\w+$/, "");
    if (/\.html?$/i.test(file.name)) continue;
    const [, kindName = ""] = /suppression_([a-z_]+?)(?:[-_]?\d[\w-]*)?$/i.exec(name) ?? [];
    const kind = suppressionKinds[kindName.toLowerCase()];
    const [, group] = /asm_groups?_(.+)_suppressions/i.exec(name) ?? [];
    if (kindName.toLowerCase() === "blocks") {
      yield { kind: "note", text: BLOCKS_NOTE };
    } else if (kind !== undefined || group !== undefined) {
      const rows = (await openNamedRows(file, ["email"])).rows();
      const into = kind ?? { list: groupList(group ?? ""), status: null };
      for await (const row of rows) yield { kind: "suppression", ...into, value: row.of("email") };
    } else {
      const listName = list ?? name;
      yield { kind: "list", key: listName, name: listName };
      yield* contactsOf(file, listName);
    }
  }
}

/** Columns that are no custom field: what people are called by, and ids of SendGrid. */
const otherColumns = new Set(["EMAIL", "FIRST_NAME", "LAST_NAME", "CREATED_AT", "UPDATED_AT", "CONTACT_ID"]);

/** Who gets no mail is in the suppressions alone. */
export async function* contactsOf(
  file: GivenFile,
  list: string,
): AsyncGenerator<GivenPerson, void, undefined> {
  const csv = await openNamedRows(file, ["EMAIL"]);
  for await (const row of csv.rows()) {
    yield {
      kind: "person",
      email: row.of("EMAIL"),
      first_name: row.of("FIRST_NAME"),
      last_name: row.of("LAST_NAME"),
      memberships: [{ list, status: "active" }],
      values: [
        ...row.filled.filter(([name]) => !otherColumns.has(name.toUpperCase())),
        ["signed_up_at", row.of("CREATED_AT")],
      ],
    };
  }
}
