import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { freePort } from "#test/support/free-port.ts";
import { startImportService } from "#test/support/imports.ts";
import {
  type ProductAnswer,
  type ProductRequest,
  startMigration,
  startProduct,
} from "#test/support/migration.ts";

const service = await startImportService();
const secrets = { LISTMONK_TOKEN: "migration:s3cret" };
/** The limit of listmonk, so small that every list has several pages. */
const MOST_PER_PAGE = 2;

const lists = [
  { id: 1, uuid: "a", name: "News", type: "public", optin: "single", description: "Once a week" },
  { id: 2, uuid: "b", name: "Offers", type: "public", optin: "double", description: "" },
  { id: 3, uuid: "c", name: "News", type: "private", optin: "single", description: "" },
];
const on = (id: number, subscription_status: string, more = {}) => ({ id, subscription_status, ...more });
const since = {
  subscription_created_at: "2020-02-03T04:05:06.123456+01:00",
  subscription_meta: { optin_ip: "192.0.2.7" },
};
const subscriber = (email: string, status: string, memberships: object[], more = {}) => ({
  id: 1,
  email,
  name: "Zoë Ann Müller",
  status,
  attribs: {},
  created_at: "2020-02-01T00:00:00.5+01:00",
  lists: memberships,
  ...more,
});
const subscribers = [
  subscriber("ann@x.example", "enabled", [on(1, "confirmed", since), on(2, "confirmed", since)], {
    attribs: {
      City: "Rome",
      projects: 3,
      vip: true,
      born: "1990-05-17",
      zip: "01234",
      langs: ["de", "en"],
      stack: { db: "pg" },
    },
  }),
  subscriber("single@x.example", "enabled", [on(1, "unconfirmed"), on(2, "unconfirmed")], {
    attribs: { projects: 4 },
  }),
  subscriber("left@x.example", "enabled", [on(1, "unsubscribed"), on(3, "confirmed")]),
  subscriber("off@x.example", "disabled", [on(1, "confirmed")]),
  subscriber("blocked@x.example", "blocklisted", [on(1, "confirmed")]),
  subscriber("gone@x.example", "blocklisted", []),
  subscriber("hard@x.example", "enabled", [on(1, "confirmed")]),
  subscriber("angry@x.example", "enabled", [on(1, "confirmed")]),
  subscriber("alone@x.example", "enabled", []),
  subscriber("not an address", "enabled", [on(1, "confirmed")]),
];
const bounces = [
  { id: 1, type: "hard", email: "hard@x.example" },
  { id: 2, type: "hard", email: "hard@x.example" },
  { id: 3, type: "complaint", email: "angry@x.example" },
  { id: 4, type: "soft", email: "ann@x.example" },
];
const templates = [
  {
    id: 1,
    name: "Frame",
    type: "campaign",
    body: '<title>{{ .Campaign.Subject }}</title><p>Hi {{ .Subscriber.FirstName }}</p>{{ template "content" . }}<a href="{{ UnsubscribeURL }}?manage=true">{{ L.T "email.unsub" }}</a>{{ TrackView }}',
  },
  {
    id: 2,
    name: "Receipt",
    type: "tx",
    subject: "Order {{ .Tx.Data.number }}",
    body: '<p>{{ .Subscriber.Attribs.City }} {{ .Subscriber.Email }}</p><a href="https://x.example/a?b=c@TrackLink">go</a><a href="{{ TrackLink "https://x.example/d" . }}">go</a>',
  },
  {
    id: 3,
    name: "Clever",
    type: "tx",
    subject: "Hi",
    body: '{{ if eq .Subscriber.Attribs.City "Rome" }}Ciao{{ end }}',
  },
];

/** Answers as listmonk's documentation says, a first call of each path with "later". */
function listmonk() {
  const asked = new Set<string>();
  return ({ path, query, headers }: ProductRequest): ProductAnswer => {
    if (headers.authorization !== "token migration:s3cret")
      return { status: 403, body: { message: "invalid API credentials" } };
    if (!asked.has(path)) {
      asked.add(path);
      return { status: 429, headers: { "Retry-After": "0" }, body: { message: "too many requests" } };
    }
    const page = Number(query.get("page"));
    const perPage = Math.min(MOST_PER_PAGE, Number(query.get("per_page")));
    const pageOf = (rows: readonly object[]) => ({
      body: {
        data: {
          results: rows.slice((page - 1) * perPage, page * perPage),
          total: rows.length,
          per_page: perPage,
          page,
        },
      },
    });
    switch (path) {
      case "/api/lists":
        return pageOf(lists);
      case "/api/subscribers":
        return pageOf(subscribers);
      case "/api/bounces":
        return pageOf(bounces);
      case "/api/templates":
        return { body: { data: templates } };
      default:
        return { status: 404, body: { message: "not found" } };
    }
  };
}

test("people, status, fields, suppressions and templates of listmonk come over, and a second run changes nothing", async () => {
  const product = await startProduct(listmonk());
  const migration = await startMigration(service);
  const words = ["listmonk", "--from", product.url, "--json"];

  const dry = await migration.run([...words, "--dry-run"], secrets);
  expect(dry).toMatchObject({ code: 0, report: { dry_run: true, people_read: 9 } });
  expect([await migration.people(), await migration.suppressions(), await migration.fieldTypes()]).toEqual([
    {},
    {},
    {},
  ]);

  const first = await migration.run(words, secrets);
  expect(first.code, first.stderr).toBe(0);
  const people = await migration.people();
  const statuses = Object.fromEntries(
    Object.entries(people).map(([list, members]) => [
      list,
      Object.fromEntries(Object.entries(members).map(([email, { status }]) => [email.split("@")[0], status])),
    ]),
  );
  expect(statuses).toEqual({
    News: {
      ann: "active",
      single: "active",
      left: "unsubscribed",
      off: "unsubscribed",
      blocked: "unsubscribed",
      hard: "bounced",
      angry: "complained",
    },
    Offers: { ann: "active", single: "unsubscribed" },
    "News (2)": { left: "active" },
  });
  expect(people.Offers?.["ann@x.example"]).toEqual({
    name: "Zoë Ann Müller",
    status: "active",
    source: "listmonk",
    fields: {
      city: "Rome",
      projects: 3,
      vip: true,
      born: "1990-05-17",
      zip: "01234",
      langs: ["de", "en"],
      stack_db: "pg",
      signed_up_at: "2020-01-31T23:00:00.500Z",
      opted_in_at: "2020-02-03T03:05:06.123Z",
      opted_in_ip: "192.0.2.7",
    },
  });
  expect(await migration.fieldTypes()).toEqual({
    city: "text",
    projects: "number",
    vip: "boolean",
    born: "date",
    zip: "text",
    langs: "multiselect",
    stack_db: "text",
    signed_up_at: "date",
    opted_in_at: "date",
    opted_in_ip: "text",
  });
  expect(await migration.suppressions()).toEqual({
    "listmonk: blocklisted": ["blocked@x.example", "gone@x.example"],
    "listmonk: hard bounces": ["hard@x.example"],
    "listmonk: complaints": ["angry@x.example"],
  });
  expect(await migration.templates()).toEqual({
    Frame: {
      kind: "layout",
      subject: "",
      html: '<title></title><p>Hi {{ first_name }}</p>{{ content }}<a href="{{ unsubscribe_url }}">Unsubscribe</a>',
    },
    Receipt: {
      kind: "mail",
      subject: "Order {{ number }}",
      html: '<p>{{ custom_fields.city }} {{ email }}</p><a href="https://x.example/a?b=c">go</a><a href="https://x.example/d">go</a>',
    },
  });
  expect(first.leftOut).toEqual([
    "person,,alone@x.example,is on no list: name one for such people with --list",
    expect.stringMatching(/^person,News,not an address,/),
    expect.stringMatching(/^template,listmonk,Clever,.*\{\{ if eq .*\{\{ end \}\}/),
  ]);

  const second = await migration.run(words, secrets);
  expect(
    second.report.lists.map(({ written, is_new }: { written: object; is_new: boolean }) => [is_new, written]),
  ).toEqual([
    [false, { created: 0, updated: 0, unchanged: 7, duplicates: 0, invalid: 0 }],
    [false, { created: 0, updated: 0, unchanged: 2, duplicates: 0, invalid: 0 }],
    [false, { created: 0, updated: 0, unchanged: 1, duplicates: 0, invalid: 0 }],
  ]);
  expect(second.report.suppressions.map(({ added }: { added: number }) => added)).toEqual([0, 0, 0]);
  expect(second.report.templates.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    "known",
    "known",
    "not created",
  ]);
  expect(await migration.people()).toEqual(people);
});

test("someone who unsubscribed here after a first run is not made active by a second one", async () => {
  const product = await startProduct(listmonk());
  const migration = await startMigration(service);
  const words = ["listmonk", "--from", product.url, "--json", "--list", "Others"];
  await migration.run(words, secrets);
  expect((await migration.people()).Others).toMatchObject({ "alone@x.example": { status: "active" } });
  await migration.setStatus("Others", "alone@x.example", "unsubscribed");
  await migration.run(words, secrets);
  expect((await migration.people()).Others).toMatchObject({ "alone@x.example": { status: "unsubscribed" } });
});

test("a run that ended early, here without a permission for templates, is completed by the next one", async () => {
  const product = await startProduct(listmonk());
  const migration = await startMigration(service);
  const words = ["listmonk", "--from", product.url, "--json"];
  const limited = await migration.newKey([
    "mailing_lists:*",
    "subscribers:*",
    "custom_fields:*",
    "suppression_lists:*",
    "templates:read",
  ]);
  const broken = await migration.run(words, { ...secrets, POSTHASTE_KEY: limited });
  expect(broken).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("POSTHASTE_KEY for /api/v1/templates"),
  });
  const people = await migration.people();
  expect(Object.keys(people.News ?? {}).length).toBe(7);
  // The report of what it did until then is there, with the file of what was left out.
  const report = JSON.parse(broken.stdout);
  expect(report).toMatchObject({ complete: false, templates: [] });
  expect(report.lists).toContainEqual(expect.objectContaining({ name: "News", is_new: true }));
  expect(broken.leftOut.length).toBeGreaterThan(0);
  const next = await migration.run(words, secrets);
  expect(next.code, next.stderr).toBe(0);
  expect(next.report).toMatchObject({ complete: true, people_read: report.people_read });
  expect(await migration.people()).toEqual(people);
  expect(Object.keys(await migration.templates()).toSorted()).toEqual(["Frame", "Receipt"]);
});

test("an export of listmonk comes over with the list and the status that the caller names", async () => {
  const migration = await startMigration(service);
  const path = join(migration.folder, "subscribers.zip");
  const csv = [
    "uuid,email,name,attributes,status,created_at,updated_at",
    '1,in@x.example,Zoë Müller,"{""city"":""Rome""}",enabled,2018-10-11 09:55:14.5 +0000 UTC,2018-10-11 09:55:14.5 +0000 UTC',
    "2,out@x.example,Bob Lee,{},blocklisted,2018-10-11 09:55:14 +0000 UTC,2018-10-11 09:55:14 +0000 UTC",
  ].join("\n");
  await writeFile(path, zipSync({ "subscribers.csv": Buffer.from(csv), "readme.md": Buffer.from("no") }));
  const refused = await migration.run(["listmonk", "--from", path, "--list", "News"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--status active or --status unsubscribed"),
  });
  const done = await migration.run(["listmonk", "--from", path, "--list", "News", "--status", "active"]);
  expect(done.code, done.stderr).toBe(0);
  expect(await migration.people()).toMatchObject({
    News: {
      "in@x.example": {
        name: "Zoë Müller",
        status: "active",
        fields: { city: "Rome", signed_up_at: "2018-10-11T09:55:14.500Z" },
      },
      "out@x.example": { status: "unsubscribed" },
    },
  });
  expect(await migration.suppressions()).toEqual({ "listmonk: blocklisted": ["out@x.example"] });
});

test("what cannot be read is a sentence, and changes nothing", async () => {
  const product = await startProduct(listmonk());
  const migration = await startMigration(service);
  const notZip = join(migration.folder, "people.zip");
  const noColumns = join(migration.folder, "people.csv");
  await Promise.all([
    writeFile(notZip, "email\na@x.example\n"),
    writeFile(noColumns, "email,name\na@x.example,Ann\n"),
  ]);
  const file = ["--list", "News", "--status", "active"];
  const refusals: [words: string[], environment: Record<string, string>, sentence: string][] = [
    [[], secrets, "Name the address of listmonk"],
    [["--from", product.url], {}, "Set LISTMONK_TOKEN"],
    [
      ["--from", product.url],
      { LISTMONK_TOKEN: "a:b" },
      "listmonk refused the key of LISTMONK_TOKEN for /api/lists: invalid API credentials",
    ],
    [
      ["--from", `${product.url}/nowhere`],
      secrets,
      "listmonk answered /nowhere/api/lists with HTTP 404: not found",
    ],
    [["--from", service.url], secrets, "listmonk answered /api/lists with"],
    [["--from", join(migration.folder, "missing.csv"), ...file], {}, "missing.csv does not exist"],
    [["--from", notZip, ...file], {}, "people.zip is not a zip file"],
    [
      ["--from", noColumns, ...file],
      {},
      "people.csv is no export of listmonk: it has no columns attributes and status",
    ],
    [["--from", product.url, "--key-file", "/nowhere"], {}, "The key file /nowhere does not exist"],
    [["--from", product.url], { ...secrets, POSTHASTE_KEY: "" }, "Set POSTHASTE_KEY"],
    [
      ["--from", product.url],
      { ...secrets, POSTHASTE_KEY: "efk_wrong" },
      "Posthaste refused the key of POSTHASTE_KEY",
    ],
  ];
  for (const [words, environment, sentence] of refusals) {
    const { code, stderr, stdout } = await migration.run(["listmonk", ...words], environment);
    expect({ code, stderr, stdout }).toEqual({
      code: 1,
      stderr: expect.stringContaining(sentence),
      stdout: "",
    });
  }
  const away = await migration.run(
    ["listmonk", "--from", product.url, "--to", `http://127.0.0.1:${await freePort()}`],
    secrets,
  );
  expect(away.stderr).toMatch(/Posthaste was not reached at .*ECONNREFUSED/);
  expect([await migration.people(), await migration.suppressions()]).toEqual([{}, {}]);
});
