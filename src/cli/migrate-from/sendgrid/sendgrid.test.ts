import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { startImportService } from "#test/support/imports.ts";
import {
  type ProductAnswer,
  type ProductRequest,
  startMigration,
  startProduct,
} from "#test/support/migration.ts";

const service = await startImportService();
const secrets = { SENDGRID_API_KEY: "SG.key" };

const header =
  "EMAIL,FIRST_NAME,LAST_NAME,CITY,PHONE_NUMBER,CREATED_AT,UPDATED_AT,CONTACT_ID,points,joined,level";
const contact = (email: string, rest: string) =>
  `${email},Zoë,Müller,Rome,+4930123456,2020-01-02T03:04:05Z,2021-01-02T03:04:05Z,id,${rest}`;
const contacts: Readonly<Record<string, readonly string[]>> = {
  l1: [
    contact("in@x.example", "7,2019-05-06,gold"),
    contact("out@x.example", "8,2019-05-07,gold"),
    contact("group@x.example", ",,"),
  ],
  l2: [
    contact("in@x.example", "7,2019-05-06,gold"),
    contact("dead@x.example", ",,"),
    contact("angry@x.example", ",,"),
  ],
  all: [contact("in@x.example", "7,2019-05-06,gold"), contact("alone@x.example", ",,")],
};
const globallyUnsubscribed = [
  "out@x.example",
  ...Array.from({ length: 501 }, (_, at) => `away${at}@x.example`),
];
const suppressed: Readonly<Record<string, readonly string[]>> = {
  unsubscribes: globallyUnsubscribed,
  bounces: ["dead@x.example"],
  invalid_emails: ["typo@x.exampel"],
  spam_reports: ["angry@x.example"],
};
const templates = [
  {
    id: "d-1",
    name: "Receipt",
    versions: [
      { active: 0, subject: "Old", html_content: "<p>old</p>", plain_content: "" },
      {
        active: 1,
        subject: "Order {{order.number}}",
        html_content:
          '<p>{{insert first_name "default=you"}} {{! note }}</p><a href="{{{unsubscribe}}}">Out</a><a href="<%asm_preferences_raw_url%>">P</a>',
        plain_content: "Order {{order.number}}",
      },
    ],
  },
  {
    id: "d-2",
    name: "Clever",
    versions: [
      { active: 1, subject: "Hi", html_content: "{{#if vip}}x{{/if}}{{{raw}}}", plain_content: null },
    ],
  },
];

/** @param hasMarketing false: a key for sending alone */
function sendGrid(hasMarketing = true) {
  const started: string[] = [];
  const looks = new Map<string, number>();
  return ({ method, path: whole, query, headers, body }: ProductRequest): ProductAnswer => {
    const path = whole.replace("/v3", "");
    const host = `http://${headers.host}`;
    if (path.startsWith("/files/")) {
      const rows = contacts[path.slice("/files/".length)] ?? [];
      return { body: gzipSync([header, ...rows, ""].join("\n")) };
    }
    if (headers.authorization !== "Bearer SG.key") {
      return { status: 401, body: { errors: [{ field: null, message: "authorization required" }] } };
    }
    if (path.startsWith("/marketing") && !hasMarketing) {
      return { status: 403, body: { errors: [{ message: "access forbidden" }] } };
    }
    const [, kind = ""] = /^\/suppression\/(\w+)$/.exec(path) ?? [];
    if (kind !== "") {
      const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
      const rows = (suppressed[kind] ?? []).map((email) => ({
        email,
        created: 1_443_651_125,
        reason: "550 5.1.1",
      }));
      return { body: rows.slice(offset, offset + Math.min(500, limit)) };
    }
    const [, exportId] = /^\/marketing\/contacts\/exports\/(.+)$/.exec(path) ?? [];
    if (exportId !== undefined) {
      const look = (looks.get(exportId) ?? 0) + 1;
      looks.set(exportId, look);
      return {
        body: look === 1 ? { status: "pending" } : { status: "ready", urls: [`${host}/files/${exportId}`] },
      };
    }
    switch (path) {
      case "/asm/groups":
        return { body: [{ id: 5, name: "Weekly", description: "", is_default: false, unsubscribes: 1 }] };
      case "/asm/groups/5/suppressions":
        return { body: ["group@x.example"] };
      case "/marketing/field_definitions":
        return {
          body: {
            custom_fields: [
              { id: "e1_N", name: "points", field_type: "Number" },
              { id: "e2_D", name: "joined", field_type: "Date" },
              { id: "e3_T", name: "level", field_type: "Text" },
            ],
            reserved_fields: [],
          },
        };
      case "/marketing/lists": {
        const isSecond = query.get("page_token") === "two";
        const next = `${host}/v3/marketing/lists?page_size=1&page_token=two`;
        return isSecond
          ? { body: { result: [{ id: "l2", name: "Offers", contact_count: 3 }], _metadata: {} } }
          : { body: { result: [{ id: "l1", name: "News", contact_count: 3 }], _metadata: { next } } };
      }
      case "/marketing/contacts/exports": {
        if (method !== "POST") return { status: 405 };
        const id = body.list_ids?.[0] ?? "all";
        started.push(id);
        return { status: 202, body: { id } };
      }
      case "/templates":
        return {
          body: {
            result: templates.map(({ id, name }) => ({ id, name, generation: "dynamic" })),
            _metadata: {},
          },
        };
      default: {
        const template = templates.find(({ id }) => path === `/templates/${id}`);
        return template === undefined
          ? { status: 404, body: { errors: [{ message: "not found" }] } }
          : { body: template };
      }
    }
  };
}

const statusesOf = (members: Readonly<Record<string, { readonly status: string }>> = {}) =>
  Object.fromEntries(Object.entries(members).map(([email, { status }]) => [email.split("@")[0], status]));

test("contacts, suppressions and templates of SendGrid come over by its API, and a second run changes nothing", async () => {
  const migration = await startMigration(service);
  const product = await startProduct(sendGrid());
  const words = ["sendgrid", "--from", product.url, "--list", "Others", "--json"];
  const first = await migration.run(words, secrets);
  expect(first.code, first.stderr).toBe(0);
  const people = await migration.people();
  expect(
    Object.fromEntries(Object.entries(people).map(([list, members]) => [list, statusesOf(members)])),
  ).toEqual({
    News: { in: "active", out: "unsubscribed", group: "active" },
    Offers: { in: "active", dead: "bounced", angry: "complained" },
    Others: { alone: "active" },
  });
  expect(people.News?.["in@x.example"]).toEqual({
    name: "Zoë Müller",
    status: "active",
    source: "SendGrid",
    fields: {
      city: "Rome",
      phone_number: "+4930123456",
      points: 7,
      joined: "2019-05-06",
      level: "gold",
      signed_up_at: "2020-01-02T03:04:05.000Z",
    },
  });
  expect(await migration.suppressions()).toEqual({
    "SendGrid: global unsubscribes": globallyUnsubscribed.toSorted(),
    "SendGrid: bounces": ["dead@x.example"],
    "SendGrid: invalid addresses": ["typo@x.exampel"],
    "SendGrid: spam reports": ["angry@x.example"],
    "SendGrid group: Weekly": ["group@x.example"],
  });
  expect(await migration.templates()).toEqual({
    Receipt: {
      kind: "mail",
      subject: "Order {{ order.number }}",
      html: '<p>{{ first_name | default: "you" }} </p><a href="{{ unsubscribe_url }}">Out</a><a href="{{ unsubscribe_url }}">P</a>',
    },
  });
  expect(first.leftOut).toEqual([expect.stringContaining("{{#if vip}} {{/if}} {{{raw}}}")]);
  // The files are on another host in truth, which must not get the key.
  expect(product.requests.filter(({ path }) => path.startsWith("/files/")).length).toBe(3);
  await migration.run(words, secrets);
  expect(await migration.people()).toEqual(people);
});

test("a key without marketing brings suppressions and templates; a wrong one is a sentence", async () => {
  const migration = await startMigration(service);
  const product = await startProduct(sendGrid(false));
  const done = await migration.run(["sendgrid", "--from", product.url, "--json"], secrets);
  expect(done.code, done.stderr).toBe(0);
  expect(done.report.notes).toContainEqual(
    "Contacts were not read: SendGrid refused the key of SENDGRID_API_KEY for /v3/marketing/field_definitions: access forbidden",
  );
  expect(await migration.people()).toEqual({});
  expect(Object.keys(await migration.templates())).toEqual(["Receipt"]);
  const wrong = await migration.run(["sendgrid", "--from", product.url], { SENDGRID_API_KEY: "SG.wrong" });
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("SendGrid refused the key of SENDGRID_API_KEY"),
  });
  const none = await migration.run(["sendgrid"]);
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("Set SENDGRID_API_KEY") });
});

test("files that the pages of SendGrid export come over: contacts, suppressions of each kind, groups", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "sendgrid");
  await mkdir(folder);
  const files: Readonly<Record<string, string>> = {
    "News.csv": [header, ...(contacts.l1 ?? [])].join("\n"),
    "suppression_unsubscribes (1).csv": "email,created\nout@x.example,1443651125\n",
    "suppression_bounces.csv": "status,reason,email,created\n5.1.1,550 no,dead@x.example,1443651125\n",
    "suppression_blocks.csv": "status,reason,email,created\n4.0.0,busy,in@x.example,1443651125\n",
    "asm_groups_5_suppressions.csv": "email,created\ngroup@x.example,1443651125\n",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const done = await migration.run(["sendgrid", "--from", folder, "--json"]);
  expect(done.code, done.stderr).toBe(0);
  expect(statusesOf((await migration.people()).News)).toEqual({
    in: "active",
    out: "unsubscribed",
    group: "active",
  });
  expect(await migration.suppressions()).toEqual({
    "SendGrid: global unsubscribes": ["out@x.example"],
    "SendGrid: bounces": ["dead@x.example"],
    "SendGrid group: 5": ["group@x.example"],
  });
});

test("a file of people who get no mail is never read as a list of people who do", async () => {
  const migration = await startMigration(service);
  const folder = join(migration.folder, "no-mail");
  await mkdir(folder);
  for (const name of ["suppression_bounce.csv", "Global Unsubscribes.csv", "spam.csv"]) {
    const file = join(folder, name);
    await writeFile(file, [header, ...(contacts.l1 ?? [])].join("\n"));
    const refused = await migration.run(["sendgrid", "--from", file]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("get no mail, but not why") });
  }
  const file = join(folder, "Former readers.csv");
  await writeFile(file, [header, ...(contacts.l1 ?? [])].join("\n"));
  await migration.run(["sendgrid", "--from", file, "--status", "unsubscribed"]);
  const statuses = statusesOf((await migration.people())["Former readers"]);
  expect(new Set(Object.values(statuses))).toEqual(new Set(["unsubscribed"]));
  const trusting = await migration.run(["sendgrid", "--from", file, "--dry-run", "--json"]);
  expect(trusting.report.notes).toEqual([expect.stringContaining("all of its people are taken as active")]);
  const bounces = join(folder, "suppression_bounces.csv");
  await writeFile(bounces, "email\ndead@x.example\n");
  const useless = await migration.run(["sendgrid", "--from", bounces, "--status", "active"]);
  expect(useless).toMatchObject({ code: 1, stderr: expect.stringContaining("has suppressions alone") });
});
