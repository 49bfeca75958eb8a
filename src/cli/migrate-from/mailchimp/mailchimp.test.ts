import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";
import {
  type ProductAnswer,
  type ProductRequest,
  startMigration,
  startProduct,
} from "#test/support/migration.ts";

const service = await startImportService();
const key = "0123456789abcdef-us21";
const secrets = { MAILCHIMP_API_KEY: key };
/** Fewer than asked for, so that there are several pages. */
const MOST_PER_PAGE = 2;

const member = (email_address: string, status: string, more = {}) => ({
  id: "md5",
  email_address,
  status,
  merge_fields: { FNAME: "Zoë", LNAME: "Müller", AGE: "", MMERGE4: "" },
  interests: { i1: false, i2: false },
  tags: [],
  tags_count: 0,
  timestamp_signup: "",
  timestamp_opt: "2019-05-06T07:08:09+00:00",
  ip_opt: "192.0.2.7",
  language: "",
  source: "Hosted Signup Form",
  ...more,
});
const audiences: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>> = {
  a1: {
    members: [
      member("in@x.example", "subscribed", {
        merge_fields: {
          FNAME: "Zoë",
          LNAME: "Müller",
          ADDRESS: { addr1: "1 High St", addr2: "", city: "Rome", zip: "00100", country: "IT" },
          PHONE: "4930123456",
          AGE: 41,
          MMERGE4: "gold",
          BDAY: "05/17",
        },
        interests: { i1: true, i2: true },
        tags: [
          { id: 1, name: "VIP" },
          { id: 2, name: "Blog, and more" },
        ],
        language: "de",
      }),
      member("out@x.example", "unsubscribed"),
      member("dead@x.example", "cleaned"),
      member("wait@x.example", "pending"),
      member("buyer@x.example", "transactional"),
      member("old@x.example", "archived"),
      member("angry@x.example", "subscribed"),
    ],
    merge_fields: [
      { tag: "FNAME", name: "First Name", type: "text" },
      { tag: "ADDRESS", name: "Address", type: "address" },
      { tag: "PHONE", name: "Phone Number", type: "phone" },
      { tag: "AGE", name: "Age", type: "number" },
      { tag: "MMERGE4", name: "Level", type: "dropdown", options: { choices: ["gold", "silver"] } },
      { tag: "BDAY", name: "Birthday", type: "birthday", options: { date_format: "MM/DD" } },
    ],
    categories: [{ id: "c1", title: "Topics", type: "checkboxes" }],
    interests: [
      { id: "i1", name: "Tea" },
      { id: "i2", name: "Coffee" },
    ],
    abuse_reports: [{ id: 1, email_address: "angry@x.example", date: "2020-01-01T00:00:00+00:00" }],
  },
  a2: {
    members: [member("in@x.example", "unsubscribed", { merge_fields: { FNAME: "Zoë", LNAME: "Müller" } })],
    merge_fields: [],
    categories: [],
    abuse_reports: [],
  },
};

/** Tags that were given to everyone between two runs. */
let newTags: readonly { readonly name: string }[] = [];

function mailchimp({ path, query, headers }: ProductRequest): ProductAnswer {
  if (headers.authorization !== `Basic ${Buffer.from(`posthaste:${key}`).toString("base64")}`) {
    return {
      status: 401,
      body: { type: "x", title: "API Key Invalid", status: 401, detail: "Your API key may be invalid" },
    };
  }
  const offset = Number(query.get("offset"));
  const pageOf = (name: string, rows: readonly object[] = []) => ({
    body: { [name]: rows.slice(offset, offset + MOST_PER_PAGE), total_items: rows.length },
  });
  if (path === "/3.0/lists") {
    return pageOf("lists", [
      { id: "a1", name: "Customers", double_optin: true },
      { id: "a2", name: "Press", double_optin: false },
    ]);
  }
  const [, id = "", what = ""] = /^\/3\.0\/lists\/(\w+)\/([\w-]+)/.exec(path) ?? [];
  const name = path.endsWith("/interests") ? "interests" : what.replace("interest-", "").replaceAll("-", "_");
  const rows = audiences[id]?.[name];
  if (rows === undefined) return { status: 404, body: { title: "Resource Not Found" } };
  return pageOf(name, newTags.length === 0 ? rows : rows.map((row) => ({ ...row, tags: newTags })));
}

const statusesOf = (members: Readonly<Record<string, { readonly status: string }>> = {}) =>
  Object.fromEntries(Object.entries(members).map(([email, { status }]) => [email.split("@")[0], status]));

test("audiences of Mailchimp come over by its API, and a second run changes nothing", async () => {
  const product = await startProduct(mailchimp);
  const migration = await startMigration(service);
  const words = ["mailchimp", "--from", product.url, "--json"];
  const first = await migration.run(words, secrets);
  expect(first.code, first.stderr).toBe(0);
  const people = await migration.people();
  expect(statusesOf(people.Customers)).toEqual({
    in: "active",
    out: "unsubscribed",
    dead: "bounced",
    wait: "unsubscribed",
    buyer: "unsubscribed",
    angry: "complained",
  });
  expect(statusesOf(people.Press)).toEqual({ in: "unsubscribed" });
  expect(people.Customers?.["in@x.example"]).toEqual({
    name: "Zoë Müller",
    status: "active",
    source: "Mailchimp: Hosted Signup Form",
    fields: {
      address: "1 High St, Rome, 00100, IT",
      phone_number: "4930123456",
      age: 41,
      level: "gold",
      birthday: "05/17",
      topics: ["Tea", "Coffee"],
      tags: ["VIP", "Blog, and more"],
      language: "de",
      opted_in_at: "2019-05-06T07:08:09.000Z",
      opted_in_ip: "192.0.2.7",
    },
  });
  expect(await migration.fieldTypes()).toEqual({
    address: "text",
    phone_number: "text",
    age: "number",
    level: "select",
    birthday: "text",
    topics: "multiselect",
    tags: "multiselect",
    language: "text",
    opted_in_at: "date",
    opted_in_ip: "text",
  });
  expect(await migration.suppressions()).toEqual({
    "Mailchimp: cleaned (bounced)": ["dead@x.example"],
    "Mailchimp: abuse reports": ["angry@x.example"],
  });
  expect(first.leftOut).toEqual(["person,Customers,old@x.example,is archived in Mailchimp"]);
  const second = await migration.run(words, secrets);
  expect(second.report.lists.map(({ written }: { written: object }) => written)).toEqual([
    { created: 0, updated: 0, unchanged: 6, duplicates: 0, invalid: 0 },
    { created: 0, updated: 0, unchanged: 1, duplicates: 0, invalid: 0 },
  ]);
  expect(await migration.people()).toEqual(people);

  newTags = [{ name: "Spring" }];
  await migration.run(words, secrets);
  expect((await migration.people()).Customers?.["in@x.example"]?.fields.tags).toEqual(["Spring"]);
});

const csv = (...rows: string[]) => Buffer.from(rows.map((row) => `${row}\n`).join(""));
const exported = {
  "Customers/subscribed_email_audience_export_1a.csv": csv(
    '"Email Address","First Name","Last Name",City,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID,EUID,NOTES,TAGS',
    'in@x.example,Zoë,Müller,Rome,2,"2018-10-11 09:55:14",192.0.2.1,"2018-10-11 09:56:00",192.0.2.2,1,a,,"""VIP"",""Blog, etc"""',
  ),
  "Customers/unsubscribed_email_audience_export_1a.csv": csv(
    '"Email Address","First Name","Last Name",City,OPTIN_TIME,UNSUB_TIME,UNSUB_REASON',
    'out@x.example,Bob,Lee,Oslo,"2018-10-11 09:55:14","2019-03-01 10:00:00",NORMAL',
  ),
  "Customers/cleaned_email_audience_export_1a.csv": csv(
    '"Email Address",CLEAN_TIME',
    'dead@x.example,"2019-03-01 10:00:00"',
  ),
  "Customers/nonsubscribed_email_audience_export_1a.csv": csv('"Email Address"', "buyer@x.example"),
  "templates/Spring.html": Buffer.from(
    '<title>*|MC:SUBJECT|*</title><p>Hi *|FNAME|* in *|CITY|*, {{ not ours }}</p><a href="*|UNSUB|*">Out</a>',
  ),
  "templates/Footer.html": Buffer.from("<p>*|LIST:COMPANY|* *|IF:VIP|*x*|END:IF|*</p>"),
  "pictures/logo.png": Buffer.from("png"),
};

test("an export of Mailchimp comes over zipped or unpacked: states by file, tags, times and templates", async () => {
  const zipped = await startMigration(service);
  const zip = join(zipped.folder, "export.zip");
  await writeFile(zip, zipSync(exported));
  const done = await zipped.run(["mailchimp", "--from", zip, "--json"]);
  expect(done.code, done.stderr).toBe(0);
  const people = await zipped.people();
  expect(statusesOf(people.Customers)).toEqual({
    in: "active",
    out: "unsubscribed",
    dead: "bounced",
    buyer: "unsubscribed",
  });
  expect(people.Customers?.["in@x.example"]?.fields).toEqual({
    city: "Rome",
    tags: ["VIP", "Blog, etc"],
    signed_up_at: "2018-10-11T09:55:14.000Z",
    opted_in_at: "2018-10-11T09:56:00.000Z",
    opted_in_ip: "192.0.2.2",
  });
  expect(await zipped.suppressions()).toEqual({ "Mailchimp: cleaned (bounced)": ["dead@x.example"] });
  expect(await zipped.templates()).toEqual({
    Spring: {
      kind: "mail",
      subject: "Spring",
      html: '<title></title><p>Hi {{ first_name }} in {{ custom_fields.city }}, {% raw %}{{{% endraw %} not ours }}</p><a href="{{ unsubscribe_url }}">Out</a>',
    },
  });
  expect(done.report.templates).toContainEqual({
    name: "Footer",
    outcome: "not created",
    reason: "has tags without a translation: *|LIST:COMPANY|* *|IF:VIP|* *|END:IF|*",
  });

  const unpacked = await startMigration(service);
  for (const [name, content] of Object.entries(exported)) {
    await mkdir(join(unpacked.folder, "export", name, ".."), { recursive: true });
    await writeFile(join(unpacked.folder, "export", name), content);
  }
  await unpacked.run(["mailchimp", "--from", join(unpacked.folder, "export")]);
  expect(await unpacked.people()).toEqual(people);
});

test("a key or a file that does not fit is a sentence, and changes nothing", async () => {
  const product = await startProduct(mailchimp);
  const migration = await startMigration(service);
  const renamed = join(migration.folder, "people.csv");
  const flat = join(migration.folder, "subscribed_members_export_1a.csv");
  await writeFile(renamed, csv("Email Address", "in@x.example"));
  await writeFile(flat, csv("Email Address", "in@x.example"));
  const refusals: [words: string[], secrets: Record<string, string>, sentence: string][] = [
    [[], {}, "Set MAILCHIMP_API_KEY"],
    [[], { MAILCHIMP_API_KEY: "0123" }, "it ends with the data centre, such as -us21"],
    [
      ["--from", product.url],
      { MAILCHIMP_API_KEY: "wrong-us1" },
      "Mailchimp refused the key of MAILCHIMP_API_KEY for /3.0/lists: Your API key may be invalid",
    ],
    [["--from", renamed], {}, "has no file of contacts, such as subscribed_….csv"],
    [["--from", flat], {}, "does not name its audience: give it with --list NAME"],
    [["--from", flat, "--list", "News", "--status", "active"], {}, "say it by their names: leave it out"],
  ];
  for (const [words, environment, sentence] of refusals) {
    const { code, stderr } = await migration.run(["mailchimp", ...words], environment);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(sentence) });
  }
  expect(await migration.people()).toEqual({});
  const named = await migration.run([
    "mailchimp",
    "--from",
    renamed,
    "--list",
    "News",
    "--status",
    "unsubscribed",
  ]);
  expect(named.code, named.stderr).toBe(0);
  expect(statusesOf((await migration.people()).News)).toEqual({ in: "unsubscribed" });
});
