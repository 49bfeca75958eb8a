/**
 * Reads the files that Mailchimp exports: for each audience a CSV file for each state (subscribed_…, unsubscribed_…,
 * cleaned_…, nonsubscribed_…), alone, in a folder or zipped; templates as HTML.
 */
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { fieldNameOf } from "#cli/migrate-from/field-names.ts";
import { type GivenFile, openGivenFiles } from "#cli/migrate-from/given-files.ts";
import { type NamedRow, openNamedRows } from "#cli/migrate-from/named-rows.ts";
import type { Given, Source, SourceOptions } from "#cli/migrate-from/source.ts";
import { CLEANED } from "./member-status.ts";
import { translateMailchimpTemplate } from "./translate-template.ts";

const statusByName: Readonly<Record<string, SubscriberStatus>> = {
  subscribed: "active",
  unsubscribed: "unsubscribed",
  nonsubscribed: "unsubscribed",
  cleaned: "bounced",
};

/** Folders that Mailchimp names itself, not after an audience. */
const unnamedFolder = /^(?:\.|audience_export_\w+|audiences?|lists?|export\w*)$/i;

const emailColumns = ["Email Address", "Email"];
/** What people are called by, and what says nothing of them. */
const otherColumns = new Set(
  "Email Address,Email,First Name,Last Name,FNAME,LNAME,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,LAST_CHANGED,LEID,EUID,TAGS,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID".split(
    ",",
  ),
);

export async function* readMailchimpExport(path: string, options: SourceOptions): Source {
  const files = await openGivenFiles(path, options.folder);
  const people = files.flatMap((file) => {
    const status = statusOfFile(file) ?? (/\.csv$/i.test(file.name) ? options.status : undefined);
    return status === undefined ? [] : [{ file, status }];
  });
  if (people.length === 0) {
    throw new Error(
      `${path} has no file of contacts, such as subscribed_….csv: Mailchimp says by the name of the file who is subscribed. For a file with another name, give --status`,
    );
  }
  if (options.status !== undefined && people.every(({ file }) => statusOfFile(file) !== undefined)) {
    throw new Error(
      `--status is for files that do not say it, and the files of ${path} say it by their names: leave it out`,
    );
  }
  const read = new Set(people.map(({ file }) => file));
  for (const file of files.filter((one) => /\.csv$/i.test(one.name) && !read.has(one))) {
    yield {
      kind: "note",
      text: `${file.name} was not read: its name does not say whose it is; give --status for such files`,
    };
  }
  const fields = new Set<string>();
  for (const { file, status } of people) yield* readContacts(file, status, options, fields);
  for (const file of files) {
    if (!/\.html?$/i.test(file.name) || !/template/i.test(file.name)) continue;
    const name = basename(file.name).replace(/\.html?$/i, "");
    yield translateMailchimpTemplate(name, await readFile(file.path, "utf8"), fields);
  }
}

function statusOfFile({ name }: GivenFile): SubscriberStatus | undefined {
  const [, state = ""] =
    /^(subscribed|unsubscribed|nonsubscribed|cleaned)_.*\.csv$/i.exec(basename(name)) ?? [];
  return statusByName[state.toLowerCase()];
}

/** @param fields gets the names of the custom fields */
async function* readContacts(
  file: GivenFile,
  status: SubscriberStatus,
  { list }: SourceOptions,
  fields: Set<string>,
): AsyncGenerator<Given> {
  const folder = basename(dirname(file.name));
  const audience = unnamedFolder.test(folder) ? list : folder;
  if (audience === undefined)
    throw new Error(`${file.name} does not name its audience: give it with --list NAME`);
  yield { kind: "list", key: audience, name: audience };
  const csv = await openNamedRows(file, emailColumns);
  for await (const row of csv.rows()) {
    const email = row.of(...emailColumns);
    const values = row.filled.filter(([name]) => !otherColumns.has(name));
    for (const [name] of values) fields.add(fieldNameOf(name));
    if (status === "bounced") yield { kind: "suppression", list: CLEANED, value: email, status };
    yield {
      kind: "person",
      email,
      first_name: row.of("First Name", "FNAME"),
      last_name: row.of("Last Name", "LNAME"),
      row: row.fileRow,
      memberships: [{ list: audience, status }],
      values: [
        ...values,
        ["tags", tagsOf(row)],
        ["signed_up_at", utc(row.of("OPTIN_TIME"))],
        ["opted_in_at", utc(row.of("CONFIRM_TIME", "OPTIN_TIME"))],
        ["opted_in_ip", row.of("CONFIRM_IP", "OPTIN_IP")],
      ],
    };
  }
}

/** Tags are in quotes and separated by commas: "VIP","Blog". */
function tagsOf(row: NamedRow): string[] {
  return Array.from(row.of("TAGS").matchAll(/"((?:[^"]|"")*)"|([^",]+)/g), ([, quoted, plain = ""]) =>
    (quoted?.replaceAll('""', '"') ?? plain).trim(),
  ).filter((tag) => tag !== "");
}

/** Exports have times in UTC, without saying so. */
function utc(time: string): string {
  return /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?$/.test(time) ? `${time.replace(" ", "T")}Z` : time;
}
