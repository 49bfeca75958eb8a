/** Reads CSV files of SendGrid, which its pages and its API export alike. */
import { basename } from "node:path";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { type GivenFile, openGivenFiles } from "#cli/migrate-from/given-files.ts";
import { openNamedRows } from "#cli/migrate-from/named-rows.ts";
import type { GivenPerson, Source, SourceOptions } from "#cli/migrate-from/source.ts";
import { BLOCKS_NOTE, groupList, suppressionKinds } from "./suppression-kinds.ts";

const names = Object.keys(suppressionKinds)
  .map((kind) => `suppression_${kind}.csv`)
  .join(", ");

/** Names of files of people who get no mail, whatever SendGrid or a person has called them. */
const saysNoMail = /suppress|unsub|bounce|spam|block|invalid|asm/i;

export async function* readSendGridFiles(path: string, { folder, list, status }: SourceOptions): Source {
  const files = (await openGivenFiles(path, folder))
    .filter(({ name }) => !/\.html?$/i.test(name))
    .map((file) => ({ file, ...meaningOf(file) }));
  const ofContacts = files.filter(({ into }) => into === "contacts").length;
  if (ofContacts === 0 && status !== undefined) {
    throw new Error(`--status is for files of contacts, and ${path} has suppressions alone: leave it out`);
  }
  if (ofContacts === files.length && status === undefined) {
    yield {
      kind: "note",
      text: `${path} has no file of suppressions, such as suppression_unsubscribes.csv: all of its people are taken as active. If some of them get no mail, give these files too, or --status`,
    };
  }
  for (const { file, name, into } of files) {
    if (into === "blocks") {
      yield { kind: "note", text: BLOCKS_NOTE };
    } else if (into === "contacts") {
      const listName = list ?? name;
      yield { kind: "list", key: listName, name: listName };
      yield* contactsOf(file, listName, status);
    } else {
      const rows = (await openNamedRows(file, ["email"])).rows();
      for await (const row of rows) yield { kind: "suppression", ...into, value: row.of("email") };
    }
  }
}

/**
 * What the name of a file says. People who left a group are exported as asm_groups_ID_suppressions.csv.
 * @throws Error for a name that says that people get no mail, but not why
 */
function meaningOf(file: GivenFile) {
  // A browser that has the file already adds a number in parentheses.
  const name = basename(file.name)
    .replace(/\.\w+$/, "")
    .replace(/ ?\(\d+\)$/, "");
  const [, kindName = ""] = /suppression_([a-z_]+?)(?:[-_]?\d[\w-]*)?$/i.exec(name) ?? [];
  const kind = kindName.toLowerCase();
  if (kind === "blocks") return { name, into: "blocks" as const };
  const [, group] = /asm_groups?_(.+)_suppressions/i.exec(name) ?? [];
  const into = group === undefined ? suppressionKinds[kind] : { list: groupList(group), status: null };
  if (into !== undefined) return { name, into };
  if (!saysNoMail.test(name)) return { name, into: "contacts" as const };
  throw new Error(
    `the name of ${file.name} says that its people get no mail, but not why: call it ${names}, as SendGrid does, or leave it out`,
  );
}

/** Columns that are no custom field: what people are called by, and ids of SendGrid. */
const otherColumns = new Set(["EMAIL", "FIRST_NAME", "LAST_NAME", "CREATED_AT", "UPDATED_AT", "CONTACT_ID"]);

/** @param status of all; those of them who get no mail are in the suppressions */
export async function* contactsOf(
  file: GivenFile,
  list: string,
  status: SubscriberStatus = "active",
): AsyncGenerator<GivenPerson, void, undefined> {
  const csv = await openNamedRows(file, ["EMAIL"]);
  for await (const row of csv.rows()) {
    yield {
      kind: "person",
      email: row.of("EMAIL"),
      first_name: row.of("FIRST_NAME"),
      last_name: row.of("LAST_NAME"),
      row: row.fileRow,
      memberships: [{ list, status }],
      values: [
        ...row.filled.filter(([name]) => !otherColumns.has(name.toUpperCase())),
        ["signed_up_at", row.of("CREATED_AT")],
      ],
    };
  }
}
