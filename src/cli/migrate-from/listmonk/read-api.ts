/** Reads lists, bounces, subscribers and templates by the API of listmonk. */
import { type Static, Type } from "typebox";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { RemoteApi } from "#cli/migrate-from/remote-api.ts";
import type { Given, GivenPerson, ReadApi, Source } from "#cli/migrate-from/source.ts";
import { attributeValues, BLOCKLIST, splitName, statusOfPerson } from "./subscriber.ts";
import { translateListmonkTemplate } from "./translate-template.ts";

/** listmonk answers with fewer if its limit is lower (50 by default). */
const PER_PAGE = 1_000;
const BOUNCES = "listmonk: hard bounces";
const COMPLAINTS = "listmonk: complaints";

const nullable = <Shape extends Parameters<typeof Type.Union>[0][number]>(shape: Shape) =>
  Type.Union([shape, Type.Null()]);

const List = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  optin: Type.Optional(Type.String()),
  description: Type.Optional(nullable(Type.String())),
});
const Subscription = Type.Object({
  id: Type.Integer(),
  subscription_status: Type.String(),
  subscription_created_at: Type.Optional(nullable(Type.String())),
  subscription_meta: Type.Optional(Type.Unknown()),
});
const Subscriber = Type.Object({
  email: Type.String(),
  name: Type.String(),
  status: Type.String(),
  attribs: Type.Optional(Type.Unknown()),
  created_at: Type.Optional(nullable(Type.String())),
  lists: Type.Optional(nullable(Type.Array(Subscription))),
});
type Subscriber = Static<typeof Subscriber>;
const Bounce = Type.Object({ type: Type.String(), email: Type.String() });
const Template = Type.Object({
  name: Type.String(),
  type: Type.String(),
  subject: Type.Optional(nullable(Type.String())),
  body: Type.String(),
});

export const readListmonkApi: ReadApi = (url, secret, { list }) => {
  if (url === undefined)
    throw new Error("Name the address of listmonk, such as --from http://127.0.0.1:9000");
  const headers = { Authorization: `token ${secret}` };
  const api = new RemoteApi({ name: "listmonk", base: url, headers, secretName: "LISTMONK_TOKEN" });
  return new ListmonkApi(api, list).read();
};

class ListmonkApi {
  readonly #api: RemoteApi;
  readonly #listOfOthers: string | undefined;
  readonly #doubleOptIn = new Set<number>();

  /** @param listOfOthers the list of people who are on none */
  constructor(api: RemoteApi, listOfOthers: string | undefined) {
    this.#api = api;
    this.#listOfOthers = listOfOthers;
  }

  async *read(): Source {
    for await (const list of this.#rows("/api/lists", List)) {
      const { id, name, optin, description } = list;
      if (optin === "double") this.#doubleOptIn.add(id);
      yield {
        kind: "list",
        key: String(id),
        name,
        description: description ?? "",
        isDoubleOptIn: optin === "double",
      };
    }
    if (this.#listOfOthers !== undefined) yield { kind: "list", key: OTHERS, name: this.#listOfOthers };
    yield* this.#bounces();
    // An unknown column means the id: people who are added meanwhile come last, and no page moves.
    for await (const person of this.#rows("/api/subscribers", Subscriber, { order_by: "id", order: "asc" })) {
      if (person.status === "blocklisted") {
        yield { kind: "suppression", list: BLOCKLIST, value: person.email, status: "unsubscribed" };
        if ((person.lists ?? []).length === 0) continue;
      }
      yield this.#personOf(person);
    }
    yield* this.#templates();
  }

  async *#bounces(): AsyncGenerator<Given> {
    let soft = 0;
    for await (const { type, email } of this.#rows("/api/bounces", Bounce)) {
      if (type === "hard") yield { kind: "suppression", list: BOUNCES, value: email, status: "bounced" };
      else if (type === "complaint")
        yield { kind: "suppression", list: COMPLAINTS, value: email, status: "complained" };
      else soft++;
    }
    if (soft > 0) {
      const text = `${soft} soft bounces of listmonk suppress no one: they say nothing lasting of the address`;
      yield { kind: "note", text };
    }
  }

  #personOf({ email, name, status, attribs, created_at, lists }: Subscriber): GivenPerson {
    const subscriptions = lists ?? [];
    const confirmed = subscriptions.filter(({ subscription_status }) => subscription_status === "confirmed");
    const [optedInAt] = confirmed
      .flatMap(({ subscription_created_at }) => subscription_created_at ?? [])
      .toSorted();
    const [optedInIp] = subscriptions.flatMap(({ subscription_meta }) => {
      const { optin_ip } = Object(subscription_meta) as { readonly optin_ip?: unknown };
      return typeof optin_ip === "string" ? optin_ip : [];
    });
    const others = this.#listOfOthers === undefined ? [] : [{ list: OTHERS, status: statusOfPerson(status) }];
    return {
      kind: "person",
      email,
      ...splitName(name),
      memberships:
        subscriptions.length === 0
          ? others
          : subscriptions.map(({ id, subscription_status }) => ({
              list: String(id),
              status: this.#statusOn(id, status, subscription_status),
            })),
      values: [
        ...attributeValues(attribs),
        ["signed_up_at", created_at ?? ""],
        ["opted_in_at", optedInAt ?? ""],
        ["opted_in_ip", optedInIp ?? ""],
      ],
    };
  }

  /** Only people to whom listmonk itself would send a campaign are active. */
  #statusOn(list: number, ofPerson: string, ofSubscription: string): SubscriberStatus {
    const isConfirmed = ofSubscription === "confirmed";
    const isEnough = isConfirmed || (ofSubscription === "unconfirmed" && !this.#doubleOptIn.has(list));
    return isEnough ? statusOfPerson(ofPerson) : "unsubscribed";
  }

  async *#templates(): AsyncGenerator<Given> {
    const { data } = await this.#api.get("/api/templates", Type.Object({ data: Type.Array(Template) }));
    for (const template of data) yield translateListmonkTemplate(template);
  }

  /** The rows of all pages. */
  async *#rows<Shape extends Parameters<typeof Type.Array>[0]>(
    path: string,
    shape: Shape,
    order: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<Static<Shape>, void, undefined> {
    const Page = Type.Object({
      data: Type.Object({ results: nullable(Type.Array(shape)), total: Type.Integer() }),
    });
    let read = 0;
    for (let page = 1; ; page++) {
      const { data } = await this.#api.get(path, Page, { ...order, page, per_page: PER_PAGE });
      const rows = data.results ?? [];
      yield* rows as Static<Shape>[];
      read += rows.length;
      if (rows.length === 0 || read >= data.total) return;
    }
  }
}

/** The key of the list of people who are on none. */
const OTHERS = "others";
