/** Reads audiences, contacts, groups and abuse reports by Mailchimp's Marketing API 3.0. */
import { type Static, type TSchema, Type } from "typebox";
import type { FieldType } from "#audience/custom-fields/field-types.ts";
import { RemoteApi } from "#cli/migrate-from/remote-api.ts";
import type { DeclaredField, Given, GivenValue, ReadApi, Source } from "#cli/migrate-from/source.ts";
import { CLEANED, COMPLAINTS, statusOfMember } from "./member-status.ts";

/** The limit of the API. */
const PER_PAGE = 1_000;

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Audience = Type.Object({
  id: Type.String(),
  name: Type.String(),
  double_optin: Type.Optional(Type.Boolean()),
});
const MergeField = Type.Object({
  tag: Type.String(),
  name: Type.String(),
  type: Type.String(),
  options: Type.Optional(Type.Object({ choices: Type.Optional(Type.Array(Type.String())) })),
});
const Category = Type.Object({ id: Type.String(), title: Type.String() });
const Interest = Type.Object({ id: Type.String(), name: Type.String() });
const AbuseReport = Type.Object({ email_address: Type.String() });
const Member = Type.Object({
  email_address: Type.String(),
  status: Type.String(),
  merge_fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  interests: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
  tags: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
  timestamp_signup: text,
  timestamp_opt: text,
  ip_opt: text,
  language: text,
  source: text,
});
/** Mailchimp answers in a fraction of the time without the statistics of each contact. */
const memberFields = [...Object.keys(Member.properties).map((name) => `members.${name}`), "total_items"].join(
  ",",
);

/** Everything else is a text: a birthday has no year, a telephone number is no amount. */
const fieldTypes: Readonly<Record<string, FieldType>> = {
  number: "number",
  date: "date",
  url: "url",
  imageurl: "url",
  radio: "select",
  dropdown: "select",
};

interface Names {
  /** Names of merge fields by their tags, without those of the address and the names. */
  readonly fields: ReadonlyMap<string, string>;
  /** Groups by the id of an interest. */
  readonly interests: ReadonlyMap<string, { readonly category: string; readonly name: string }>;
}

export const readMailchimpApi: ReadApi = (url, secret) => {
  const [, dataCentre] = /-([a-z]{2,4}\d{1,4})$/.exec(secret) ?? [];
  if (url === undefined && dataCentre === undefined) {
    throw new Error("MAILCHIMP_API_KEY is no key of Mailchimp: it ends with the data centre, such as -us21");
  }
  const api = new RemoteApi({
    name: "Mailchimp",
    base: new URL("/3.0", url ?? `https://${dataCentre}.api.mailchimp.com`),
    headers: { Authorization: `Basic ${Buffer.from(`posthaste:${secret}`).toString("base64")}` },
    secretName: "MAILCHIMP_API_KEY",
  });
  return new MailchimpApi(api).read();
};

class MailchimpApi {
  readonly #api: RemoteApi;

  constructor(api: RemoteApi) {
    this.#api = api;
  }

  async *read(): Source {
    const audiences: Static<typeof Audience>[] = [];
    for await (const audience of this.#rows("/lists", "lists", Audience)) {
      const { id, name, double_optin } = audience;
      audiences.push(audience);
      yield { kind: "list", key: id, name, isDoubleOptIn: double_optin ?? false };
    }
    for (const { id } of audiences) {
      for await (const { email_address } of this.#rows(
        `/lists/${id}/abuse-reports`,
        "abuse_reports",
        AbuseReport,
      )) {
        yield { kind: "suppression", list: COMPLAINTS, value: email_address, status: "complained" };
      }
    }
    for (const audience of audiences) yield* this.#contacts(audience);
    const note = "The API of Mailchimp has no HTML of templates: take them from its export";
    yield { kind: "note", text: note };
  }

  async *#contacts({ id, name }: Static<typeof Audience>): AsyncGenerator<Given> {
    const fields = new Map<string, string>();
    for await (const field of this.#rows(`/lists/${id}/merge-fields`, "merge_fields", MergeField)) {
      if (["EMAIL", "FNAME", "LNAME"].includes(field.tag)) continue;
      fields.set(field.tag, field.name);
      yield fieldOf(field);
    }
    const interests = new Map<string, { category: string; name: string }>();
    const categories = `/lists/${id}/interest-categories`;
    for await (const category of this.#rows(categories, "categories", Category)) {
      for await (const interest of this.#rows(
        `${categories}/${category.id}/interests`,
        "interests",
        Interest,
      )) {
        interests.set(interest.id, { category: category.title, name: interest.name });
      }
    }
    const query = { fields: memberFields };
    for await (const member of this.#rows(`/lists/${id}/members`, "members", Member, query)) {
      yield* contactOf(member, id, name, { fields, interests });
    }
  }

  /** The rows of all pages. @param property of the answer that has them */
  async *#rows<Shape extends TSchema>(
    path: string,
    property: string,
    shape: Shape,
    query: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<Static<Shape>, void, undefined> {
    const Page = Type.Object({ [property]: Type.Array(shape), total_items: Type.Optional(Type.Integer()) });
    for (let offset = 0; ; ) {
      const page: Record<string, unknown> = await this.#api.get(path, Page, {
        ...query,
        count: PER_PAGE,
        offset,
      });
      const rows = page[property] as Static<Shape>[];
      yield* rows;
      offset += rows.length;
      const { total_items: total } = page;
      if (rows.length === 0 || (typeof total === "number" && offset >= total)) return;
    }
  }
}

function fieldOf({ name, type, options }: Static<typeof MergeField>): DeclaredField {
  const field_type = fieldTypes[type] ?? "text";
  return {
    kind: "field",
    name,
    label: name,
    type: field_type,
    ...(field_type === "select" && { options: options?.choices ?? [] }),
  };
}

function* contactOf(
  member: Static<typeof Member>,
  audience: string,
  audienceName: string,
  names: Names,
): Generator<Given> {
  const { email_address: email, status: given, merge_fields = {}, source, tags = [] } = member;
  const status = statusOfMember(given);
  if (status === null) {
    const reason = "is archived in Mailchimp";
    yield { kind: "omission", what: "person", where: audienceName, name: email, reason };
    return;
  }
  if (status === "bounced") yield { kind: "suppression", list: CLEANED, value: email, status };
  yield {
    kind: "person",
    email,
    first_name: textOf(merge_fields.FNAME),
    last_name: textOf(merge_fields.LNAME),
    ...(source && { source: `Mailchimp: ${source}` }),
    memberships: [{ list: audience, status }],
    values: [
      ...Object.entries(merge_fields).flatMap(([tag, value]) => {
        const name = names.fields.get(tag);
        return name === undefined ? [] : [[name, typeof value === "number" ? value : textOf(value)] as const];
      }),
      ...groupsOf(member, names),
      ["tags", tags.map(({ name }) => name)],
      ["language", member.language ?? ""],
      ["signed_up_at", member.timestamp_signup ?? ""],
      ["opted_in_at", member.timestamp_opt ?? ""],
      ["opted_in_ip", member.ip_opt ?? ""],
    ],
  };
}

/** The groups that a contact has chosen, a field for each category. */
function groupsOf(
  { interests = {} }: Static<typeof Member>,
  names: Names,
): (readonly [name: string, value: GivenValue])[] {
  const chosen = new Map<string, string[]>();
  for (const [id, isChosen] of Object.entries(interests)) {
    const interest = names.interests.get(id);
    if (!isChosen || interest === undefined) continue;
    chosen.set(interest.category, [...(chosen.get(interest.category) ?? []), interest.name]);
  }
  return [...chosen];
}

/** An address is an object of its lines. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Object.values(Object(value) as object)
    .filter((one) => typeof one === "string" && one.trim() !== "")
    .join(", ");
}
