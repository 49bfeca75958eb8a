/** Which columns and file names decide that people get no mail, asked of whole files. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { inspectFile } from "#audience/imports/dry-run-file.ts";
import { systemClock } from "#platform/clock.ts";
import { unclearFileName } from "./find-columns.ts";

const folder = await mkdtemp(join(tmpdir(), "posthaste-decisions-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inspect(content: string, ...optOutColumns: string[]) {
  const path = join(folder, `${crypto.randomUUID()}.csv`);
  await writeFile(path, content);
  const choice = { opt_out_column: optOutColumns };
  return inspectFile({
    path,
    ...choice,
    updateExisting: true,
    resubscribe: false,
    clock: systemClock,
    list: undefined,
  });
}

const fileOf = (header: string, cells: readonly string[]) =>
  [`Email,${header}`, ...cells.map((cell, at) => `p${at}@x.example,${cell}`)].join("\n");

describe("a status column about something other than mail neither counts nor refuses the file", () => {
  it.each([
    ["RSVP Status", ["Confirmed", "Declined", "Pending"]],
    ["RSVP Status", ["Confirmed", "Declined"]],
    ["Booking Status", ["Confirmed", "Cancelled"]],
    ["Appointment Status", ["Confirmed", "Cancelled", "Unconfirmed"]],
    ["Order Status", ["Confirmed", "Archived", "Pending"]],
    ["Order Status", ["Confirmed", "Shipped", "Pending"]],
    ["order_status", ["confirmed", "cancelled"]],
    ["OrderStatus", ["Confirmed", "Cancelled"]],
    ["Bestellstatus", ["Confirmed", "Cancelled"]],
    ["Buchungsstatus", ["Unconfirmed", "Cancelled"]],
    ["Lead Status", ["New", "Confirmed", "Unconfirmed"]],
    ["Payment Status", ["Paid", "Bounced"]],
    ["Payment Status", ["Bounced", "Cancelled"]],
    ["Subscription payment status", ["Paid", "Cancelled"]],
    ["Payment bounced", ["yes", "no"]],
    ["Account Status", ["Subscribed", "Trial"]],
    ["Registration Status", ["Confirmed", "Unconfirmed", "Cancelled"]],
    ["Ticket State", ["Complaint", "Blocked"]],
    ["Invoice Status", ["Suppressed", "Denied"]],
    ["Reservation Status", ["Unconfirmed", "Declined"]],
    ["Interview Status", ["Confirmed", "Declined"]],
    ["Loan Status", ["Confirmed", "Denied", "Bounced"]],
  ])("%s: %j", async (header, cells) => {
    const { opted_out, opt_out_columns, warnings } = await inspect(fileOf(header, cells));
    expect({ opted_out, opt_out_columns, warnings }).toEqual({
      opted_out: 0,
      opt_out_columns: [],
      warnings: [],
    });
  });
});

describe("a switch without a word for mail refuses the file if a cell opts a person out, until the sender decides", () => {
  it.each([
    ["active", ["1", "0"]],
    ["is_active", ["true", "false", "false"]],
    ["Aktiv", ["ja", "nein"]],
    ["enabled", ["False", "True"]],
    ["is_deleted", ["0", "1"]],
    ["deleted_at", ["", "2024-01-02 10:00:00"]],
    ["Souhlas", ["ano", "ne"]],
  ])("%s: %j", async (header, cells) => {
    const file = fileOf(header, cells);
    await expect(inspect(file)).rejects.toThrow(new RegExp(`"${header}" may say who gets no mail`));
    const out = header === "is_active" ? 2 : 1;
    expect(await inspect(file, header)).toMatchObject({ opted_out: out });
    expect(await inspect(file, "ignore")).toMatchObject({ opted_out: 0 });
  });

  it.each([
    ["active", ["1", "1", ""]],
    ["is_deleted", ["0", "false"]],
    ["deleted_at", ["", "NULL"]],
    ["Active", ["Gold", "Silver", "no"]],
    ["Verified", ["2024-01-02", ""]],
  ])("and does not where no cell does, or the cells are of something else: %s: %j", async (header, cells) => {
    expect(await inspect(fileOf(header, cells))).toMatchObject({ opted_out: 0, opt_out_columns: [] });
  });
});

describe("opt_out_column", () => {
  const hubspot = [
    "Email,Unsubscribed from all email,Marketing contact status,Opted out of email: News",
    "a@x.example,true,Marketing contact,",
    "b@x.example,,Non-marketing contact,",
    "c@x.example,,Non-marketing contact,Yes",
    "d@x.example,,Marketing contact,",
  ].join("\n");

  it("reports each plain column that it overrules and that opts people out, with the count", async () => {
    const { opted_out, warnings } = await inspect(hubspot, "Unsubscribed from all email");
    expect(opted_out).toBe(1);
    expect(warnings).toEqual([
      expect.stringMatching(/"Marketing contact status" says in 2 rows/),
      expect.stringMatching(/"Opted out of email: News" says in 1 row /),
    ]);
  });

  it("says so of ignore, too", async () => {
    const { opted_out, warnings } = await inspect("Email,Unsubscribed\na@x.example,yes\n", "ignore");
    expect([opted_out, warnings]).toEqual([0, [expect.stringMatching(/"Unsubscribed" says in 1 row /)]]);
  });

  it("does not report columns that opt nobody out", async () => {
    const { warnings } = await inspect("Email,Active,Unsubscribed\na@x.example,no,no\n", "Active");
    expect(warnings).toEqual([]);
  });

  it("may be given several times: the worst status counts", async () => {
    const both = await inspect(hubspot, "Unsubscribed from all email", "marketing contact status");
    expect(both).toMatchObject({
      opted_out: 3,
      opt_out_columns: [
        { column: "Unsubscribed from all email", opted_out: 1 },
        { column: "Marketing contact status", opted_out: 2 },
      ],
      warnings: [expect.stringContaining('"Opted out of email: News"')],
    });
  });

  it("is refused with a column that is not there, and with ignore beside a name", async () => {
    await expect(inspect(hubspot, "Unsubscribed from all email", "Nope")).rejects.toThrow(/"Nope"/);
    await expect(inspect(hubspot, "ignore", "Marketing contact status")).rejects.toThrow(/send it alone/);
  });
});

describe("a column that decides without a plain name is reported in a warning", () => {
  it.each([
    ["Account Status", ["Active", "Unsubscribed"], 1],
    ["Event Status", ["Confirmed", "Hard bounce"], 1],
    ["Order Status", ["Opted out", "Cancelled"], 2],
    ["Person Phase Status", ["Subscribed", "Inactive"], 1],
    ["Customer Status", ["Confirmed", "Unsubscribed"], 1],
  ])("%s: %j", async (header, cells, out) => {
    const { opted_out, warnings } = await inspect(fileOf(header, cells));
    expect(opted_out).toBe(out);
    expect(warnings).toEqual([expect.stringContaining(`"${header}"`)]);
  });
});

it("a status column about something else with words for mail refuses the file", async () => {
  await expect(inspect(fileOf("Account Status", ["Trial", "Unsubscribed"]))).rejects.toThrow(
    /"Account Status".*opt_out_column=ignore/,
  );
});

describe("a column Status with ambiguous words opts people out with a warning", () => {
  it.each([
    ["Status", ["Active", "Inactive", "Archived", ""], 2],
    ["status", ["active", "Suspended"], 1],
    ["State", ["Active", "Disabled"], 1],
    ["Estado", ["Activo", "Inactivo"], 1],
    ["Statut", ["Actif", "Inactif"], 1],
  ])("%s: %j", async (header, cells, out) => {
    const { opted_out, warnings } = await inspect(fileOf(header, cells));
    expect(opted_out).toBe(out);
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`"${header}".*\\b${out}\\b`))]);
  });

  it.each([
    ["Status", ["Active", "Unsubscribed", "Inactive"], 2],
    ["Status", ["Active", "Bounced"], 1],
    ["Status", ["Active", "Subscribed"], 0],
    ["Status", ["enabled", "blocklisted"], 1],
    ["Status", ["配信中", "配信停止"], 1],
    ["Subscription status", ["Active", "Inactive"], 1],
  ])("and without one where a word is of mail, or the name is: %s: %j", async (header, cells, out) => {
    const { opted_out, warnings } = await inspect(fileOf(header, cells));
    expect([opted_out, warnings]).toEqual([out, []]);
  });
});

describe("a file's name speaks of people who get no mail", () => {
  const isUnclear = (name: string) => unclearFileName(name, [], {}) !== undefined;
  test.each([
    "cleaned_members_export_1.csv",
    "cleaned.csv",
    "Cleaned-2024.csv",
    "nonsubscribed_members_export_1.csv",
    "unsubscribed_members.csv",
    "unsubscribes.csv",
    "suppression_bounces.csv",
    "bounces.csv",
    "HardBounces.csv",
    "hard_bounce.csv",
    "soft-bounces-2024.csv",
    "2024bounced.csv",
    "bounced_contacts.csv",
    "bounce-list.csv",
    "opt-outs.csv",
    "OptedOut.csv",
    "global_blocklist.csv",
    "spam reports.csv",
    "Désinscrits.csv",
    "abgemeldet.csv",
    "отписавшиеся.csv",
    "do_not_contact.csv",
    "do-not-email.csv",
    "DoNotMail.csv",
    "dnc.csv",
    "DNC list.csv",
    "unsubs.csv",
    "mailchimp_unsubs_march_2024.csv",
    "removed.csv",
    "removed contacts.csv",
    "deleted_users.csv",
    "invalid_emails.csv",
    "undeliverable.csv",
    "spam.csv",
    "complaints.csv",
    "excluded.csv",
    "inactive_contacts.csv",
    "unconfirmed.csv",
    "not_subscribed.csv",
    "no newsletter.csv",
    "keine_werbung.csv",
    "Abgemeldete.csv",
    "Abmeldeliste.csv",
    "Sperrliste.csv",
    "désabonnés.csv",
    "uitgeschreven.csv",
    "afmeldte.csv",
    "avregistrerade.csv",
    "odhlaseni.csv",
    "wypisani.csv",
    "desinscritos.csv",
    "bajas 2024.csv",
    "leiratkozottak.csv",
    "заблокированные.csv",
    "配信停止.csv",
    "配信停止リスト.csv",
    "退会者一覧.csv",
    "退订.csv",
    "수신거부 명단.csv",
  ])("%s", (name) => {
    expect(isUnclear(name)).toBe(true);
  });

  test.each([
    "leads_cleaned.csv",
    "customers-cleaned-2024.csv",
    "uncleaned.csv",
    "cleanedup.csv",
    "active_no_bounces.csv",
    "without-bounces.csv",
    "non-bounced.csv",
    "kunden ohne bounces.csv",
    "clients_sans_bounces.csv",
    "sin-bounces.csv",
    "no hard bounces.csv",
    "without-unsubscribed.csv",
    "ohne abgemeldet.csv",
    "no_complaints.csv",
    "not-blacklisted.csv",
    "all_excluding_suppressed.csv",
    "bounces-removed.csv",
    "bounce-house.csv",
    "debounced.csv",
    "bouncer_staff.csv",
    "subscribed_members_export_1.csv",
    "people.csv",
    "newsletter.csv",
    "active_members.csv",
    "confirmed.csv",
    "unsubscribes_removed.csv",
    "no_invalid_emails.csv",
    "cancelled_orders.csv",
    "spam_filter_customers.csv",
    "deleted scenes buyers.csv",
    "Will.csv",
    "メルマガ会員.csv",
  ])("%s does not", (name) => {
    expect(isUnclear(name)).toBe(false);
  });
});

describe("neither a row that holds an address nor a row below it is a header", () => {
  it.each([
    ["Kontakt,Kanal\nann@x.example,Email\nbob@x.example,Email\n", 2],
    ["Kontakt,Kanal\nann@x.example,Post\n,Email\nbob@x.example,Email\n", 2],
    ["Adressliste\n\nKontakt;Kanal\nann@x.example;Mail\n", undefined],
    ["Liste\nEmail,Kanal\nann@x.example,Email\n", 1],
  ])("%j", async (content, people) => {
    if (people === undefined) {
      await expect(inspect(content)).rejects.toThrow(/column/);
      return;
    }
    const { rows, invalid } = await inspect(content);
    expect(rows - invalid).toBe(people);
  });

  it("so a file that begins with one is refused with what to do", async () => {
    await expect(inspect("ann@x.example,Email\nbob@x.example,Email\n")).rejects.toThrow(
      /put a row with the names of the columns above it/,
    );
  });
});
