/**
 * The built-in fields of rules: the kind of each, its SQL, and how it is read from a person. A new field is a new
 * entry. All other names are custom fields (custom-fields.ts).
 */
import sql, { type Sql } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";
import { foldCase, foldText } from "#platform/database/fold-text.ts";
import type { BindingScope } from "./binding-scope.ts";
import type { EvaluatedMember, StatementContext } from "./bound-rule.ts";
import { campaignKind } from "./campaign-kind.ts";
import { columnDates, dateKind } from "./date-kind.ts";
import { type Field, field } from "./field.ts";
import { columnNumbers, numberKind } from "./number-kind.ts";
import type { Reads } from "./operator.ts";
import type { Membership, Person } from "./person.ts";
import { mailingListKind, segmentKind } from "./reference-kinds.ts";
import { statusKind } from "./status-kind.ts";
import { type TextForms, textKind } from "./text-kind.ts";
import { foldedText, textInColumn } from "./text-prechecks-sql.ts";

const ownRow: readonly Reads[] = ["person"];
/** What every message changes is in a table of its own. */
const mailStats: readonly Reads[] = ["person", "stats"];

const asItIs = (scope: BindingScope) => scope;
const candidate = (one: EvaluatedMember) => one;
const place = (one: StatementContext) => one;

const fields = {
  email: address(sql`s.email`, (person) => person.email, {
    normal: normalEmail,
    normalEnd: normalEmailEnd,
  }),
  email_domain: address(sql`s.email_domain`, (person) => person.email_domain, {
    normal: normalDomain,
  }),
  first_name: name(sql`s.first_name`, (person) => person.first_name),
  last_name: name(sql`s.last_name`, (person) => person.last_name),
  source: name(sql`s.source`, (person) => person.source),
  status: field(
    statusKind,
    {
      reads: ["status"],
      effort: 0,
      source: ({ status }) => status,
      held: ({ membership }) => membership.status,
    },
    asItIs,
  ),
  created_at: date(sql`s.created_at`, (person) => person.created_at),
  subscribed_at: listDate(sql`subscribed_at`, (membership) => membership.subscribed_at),
  unsubscribed_at: listDate(sql`unsubscribed_at`, (membership) => membership.unsubscribed_at),
  last_sent_at: date(sql`t.last_sent_at`, (person) => person.last_sent_at, mailStats),
  last_opened_at: date(sql`s.last_opened_at`, (person) => person.last_opened_at),
  last_clicked_at: date(sql`s.last_clicked_at`, (person) => person.last_clicked_at),
  sent_count: number(sql`t.sent_count`, (person) => person.sent_count, mailStats),
  // A message with a click but no loaded pixel counts as opened, too.
  open_count: number(sql`greatest(s.open_count, s.unique_open_count)`, ({ open_count, unique_open_count }) =>
    Math.max(open_count, unique_open_count),
  ),
  click_count: number(sql`s.click_count`, (person) => person.click_count),
  engagement_score: number(sql`s.engagement_score`, (person) => person.engagement_score),
  segment: field(segmentKind, { reads: ["person"], effort: 20, source: place, held: candidate }, asItIs),
  mailing_list: field(
    mailingListKind,
    { reads: ["person"], effort: 1, source: place, held: candidate },
    asItIs,
  ),
  campaign: field(campaignKind, { reads: ["person"], effort: 10, source: place, held: candidate }, asItIs),
};

export const builtInFields: ReadonlyMap<string, Field> = new Map(Object.entries(fields));

/** What people call the fields. */
export const builtInLabels: Readonly<Record<keyof typeof fields, string>> = {
  email: "Email address",
  email_domain: "Domain of the address",
  first_name: "First name",
  last_name: "Last name",
  source: "Source",
  status: "Status on the list",
  created_at: "Added to the workspace",
  subscribed_at: "Joined the list",
  unsubscribed_at: "Left the list",
  last_sent_at: "Last message sent",
  last_opened_at: "Last open",
  last_clicked_at: "Last click",
  sent_count: "Messages sent",
  open_count: "Opens",
  click_count: "Clicks",
  engagement_score: "Engagement score",
  segment: "Segment",
  mailing_list: "Mailing list",
  campaign: "Campaign",
};

/** Text stored in a normal form. */
function address(column: Sql, read: (person: Person) => string, forms: TextForms): Field {
  const source = foldedText(column);
  const location = {
    reads: ["person"] as const,
    effort: 1,
    source: () => source,
    held: ({ person }: EvaluatedMember) => read(person),
  };
  return field(textKind, location, (scope) => ({ ...scope, ...forms }));
}

function name(column: Sql, read: (person: Person) => string | null): Field {
  const source = textInColumn(column);
  const held = ({ person }: EvaluatedMember) => {
    const text = read(person);
    return text === null ? undefined : foldCase(text);
  };
  const location = { reads: ["person"] as const, effort: 3, source: () => source, held };
  return field(textKind, location, (scope) => ({ ...scope, normal: foldText }));
}

function date(column: Sql, read: (person: Person) => Date | null, reads = ownRow): Field {
  const location = {
    reads,
    effort: 1,
    source: () => columnDates(column),
    held: ({ person }: EvaluatedMember) => read(person) ?? undefined,
  };
  return field(dateKind, location, asItIs);
}

/** A date of the membership on the list in question. */
function listDate(column: Sql, read: (membership: Membership) => Date | null): Field {
  const location = {
    reads: ["membership"] as const,
    effort: 1,
    source: ({ membership }: StatementContext) => columnDates(sql`${membership}.${column}`),
    held: ({ membership }: EvaluatedMember) => read(membership) ?? undefined,
  };
  return field(dateKind, location, asItIs);
}

function number(column: Sql, read: (person: Person) => number, reads = ownRow): Field {
  const location = {
    reads,
    effort: 1,
    source: () => columnNumbers(column),
    held: ({ person }: EvaluatedMember) => read(person),
  };
  return field(numberKind, location, asItIs);
}

/**
 * The form in which addresses are stored (mail/address.ts). A text without @ may be part of a local part, and keeps its
 * script.
 */
function normalEmail(text: string): string {
  return text.includes("@") ? normalEmailEnd(text) : lowered(text);
}

/** The end of an address belongs to its domain, even without an @. */
function normalEmailEnd(text: string): string {
  return domainInALabels(lowered(text));
}

/** Without a leading @; also for the end of a domain. */
function normalDomain(text: string): string {
  return normalEmailEnd(text).replace(/^@/, "");
}

function lowered(text: string): string {
  return text.trim().toLowerCase().normalize("NFC");
}
