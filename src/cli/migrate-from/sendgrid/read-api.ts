/** Reads suppressions, lists with their contacts, and dynamic templates by SendGrid's API v3. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Static, type TSchema, Type } from "typebox";
import type { FieldType } from "#audience/custom-fields/field-types.ts";
import { plainFile } from "#cli/migrate-from/given-files.ts";
import { RefusedCall, RemoteApi } from "#cli/migrate-from/remote-api.ts";
import type { Given, GivenPerson, ReadApi, Source, SourceOptions } from "#cli/migrate-from/source.ts";
import { contactsOf } from "./read-files.ts";
import { BLOCKS_NOTE, groupList, suppressionKinds } from "./suppression-kinds.ts";
import { translateSendGridTemplate } from "./translate-template.ts";

/** The limits of the API. */
const SUPPRESSIONS_PER_PAGE = 500;
const LISTS_PER_PAGE = 1_000;
const TEMPLATES_PER_PAGE = 200;
/** An export of millions of contacts takes many minutes. */
const MOST_EXPORT_MS = 2 * 3_600_000;
const FIRST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 30_000;

const Suppressions = Type.Array(Type.Object({ email: Type.String() }));
const Groups = Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() }));
const List = Type.Object({ id: Type.String(), name: Type.String() });
const Definitions = Type.Object({
  custom_fields: Type.Optional(Type.Array(Type.Object({ name: Type.String(), field_type: Type.String() }))),
});
const Started = Type.Object({ id: Type.String() });
const Export = Type.Object({
  status: Type.String(),
  urls: Type.Optional(Type.Array(Type.String())),
  message: Type.Optional(Type.String()),
});
const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Template = Type.Object({
  name: Type.String(),
  versions: Type.Array(
    Type.Object({ active: Type.Integer(), subject: text, html_content: text, plain_content: text }),
  ),
});

const fieldTypes: Readonly<Record<string, FieldType>> = { Number: "number", Date: "date" };

export const readSendGridApi: ReadApi = (url, secret, options) => {
  const api = new RemoteApi({
    name: "SendGrid",
    base: new URL("/v3", url ?? "https://api.sendgrid.com"),
    headers: { Authorization: `Bearer ${secret}` },
    secretName: "SENDGRID_API_KEY",
  });
  return new SendGridApi(api, options).read();
};

class SendGridApi {
  readonly #api: RemoteApi;
  readonly #folder: string;
  readonly #listOfOthers: string | undefined;
  #files = 0;

  constructor(api: RemoteApi, { folder, list }: Pick<SourceOptions, "folder" | "list">) {
    this.#api = api;
    this.#folder = folder;
    this.#listOfOthers = list;
  }

  async *read(): Source {
    yield* this.#suppressions();
    const definitions = await this.#definitions();
    if (typeof definitions === "string") yield { kind: "note", text: definitions };
    else yield* this.#contacts(definitions);
    yield* this.#templates();
  }

  async *#suppressions(): AsyncGenerator<Given> {
    for (const [kind, into] of Object.entries(suppressionKinds)) {
      for (let offset = 0; ; ) {
        const query = { limit: SUPPRESSIONS_PER_PAGE, offset };
        const rows = await this.#api.get(`/suppression/${kind}`, Suppressions, query);
        for (const { email } of rows) yield { kind: "suppression", ...into, value: email };
        offset += rows.length;
        if (rows.length < SUPPRESSIONS_PER_PAGE) break;
      }
    }
    yield { kind: "note", text: BLOCKS_NOTE };
    for (const { id, name } of await this.#api.get("/asm/groups", Groups)) {
      const addresses = await this.#api.get(`/asm/groups/${id}/suppressions`, Type.Array(Type.String()));
      for (const value of addresses)
        yield { kind: "suppression", list: groupList(name), value, status: null };
    }
  }

  /** Or why there are no contacts to read: a key for sending alone, or an account without marketing campaigns. */
  async #definitions(): Promise<Static<typeof Definitions> | string> {
    try {
      return await this.#api.get("/marketing/field_definitions", Definitions);
    } catch (fault) {
      if (!(fault instanceof RefusedCall) || !(fault.isAboutKey || fault.status === 404)) throw fault;
      return `Contacts were not read: ${fault.message}`;
    }
  }

  async *#contacts({ custom_fields = [] }: Static<typeof Definitions>): AsyncGenerator<Given> {
    for (const { name, field_type } of custom_fields) {
      yield { kind: "field", name, label: name, type: fieldTypes[field_type] ?? "text" };
    }
    const lists: Static<typeof List>[] = [];
    for await (const list of this.#rows("/marketing/lists", List, { page_size: LISTS_PER_PAGE }))
      lists.push(list);
    /** Addresses of people who are on a list, if the others are wanted. */
    const listed = new Set<string>();
    const others = this.#listOfOthers;
    for (const { id, name } of lists) {
      yield { kind: "list", key: id, name };
      for await (const person of this.#exported({ list_ids: [id] }, id)) {
        if (others !== undefined) listed.add(person.email.toLowerCase());
        yield person;
      }
    }
    if (others === undefined) {
      yield {
        kind: "note",
        text: "Contacts on no list of SendGrid were not read: name a list for them with --list",
      };
      return;
    }
    yield { kind: "list", key: OTHERS, name: others };
    for await (const person of this.#exported({}, OTHERS)) {
      if (!listed.has(person.email.toLowerCase())) yield person;
    }
  }

  /** Contacts come as files that SendGrid makes on request. */
  async *#exported(selection: object, list: string): AsyncGenerator<GivenPerson> {
    const body = { ...selection, file_type: "csv" };
    const { id } = await this.#api.post("/marketing/contacts/exports", Started, { body, isRepeatable: true });
    for (const url of await this.#urlsOf(id)) {
      const path = join(this.#folder, `contacts-${++this.#files}`);
      await this.#api.download(new URL(url), path);
      yield* contactsOf({ name: "The export of contacts", path: await plainFile(path, `${path}.csv`) }, list);
    }
  }

  async #urlsOf(id: string): Promise<readonly string[]> {
    const deadline = Date.now() + MOST_EXPORT_MS;
    for (let wait = FIRST_LOOK_MS; Date.now() < deadline; wait = Math.min(LONGEST_LOOK_MS, wait * 1.5)) {
      const {
        status,
        urls = [],
        message = "",
      } = await this.#api.get(`/marketing/contacts/exports/${id}`, Export);
      if (status === "ready") return urls;
      if (status === "failure") throw new Error(`SendGrid could not export the contacts: ${message}`);
      await delay(wait);
    }
    throw new Error("SendGrid did not export the contacts in time: run the command again later");
  }

  async *#templates(): AsyncGenerator<Given> {
    const query = { generations: "dynamic", page_size: TEMPLATES_PER_PAGE };
    for await (const { id } of this.#rows("/templates", Started, query)) {
      const { name, versions } = await this.#api.get(`/templates/${id}`, Template);
      const active = versions.find((version) => version.active === 1);
      if (active !== undefined) yield translateSendGridTemplate({ name, ...active });
    }
  }

  /** The rows of all pages, each of which names the next. */
  async *#rows<Shape extends TSchema>(
    path: string,
    shape: Shape,
    query: Readonly<Record<string, string | number>>,
  ): AsyncGenerator<Static<Shape>, void, undefined> {
    const Page = Type.Object({
      result: Type.Optional(Type.Array(shape)),
      _metadata: Type.Optional(Type.Object({ next: Type.Optional(Type.String()) })),
    });
    const seen = new Set<string>();
    for (let token: string | undefined; ; ) {
      const page = await this.#api.get(path, Page, {
        ...query,
        ...(token !== undefined && { page_token: token }),
      });
      yield* (page.result ?? []) as Static<Shape>[];
      const next = URL.parse(page._metadata?.next ?? "")?.searchParams.get("page_token");
      if (!next || seen.has(next)) return;
      seen.add(next);
      token = next;
    }
  }
}

/** The key of the list of people who are on none. */
const OTHERS = "others";
