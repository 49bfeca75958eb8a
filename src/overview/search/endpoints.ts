/** The search over all kinds of resources, for a command palette. */
import { type TSchema, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { type QueryField, textField } from "#platform/http/request/query.ts";
import { Id, nullable } from "#platform/shapes.ts";
import { MOST_OF_KIND } from "./find-store.ts";
import { type EverythingSearch, type SearchAnswer, searchKinds } from "./search-everything.ts";

const LONGEST_TEXT = 320;

const anyText = textField(
  LONGEST_TEXT,
  `A part of a name, the beginning of an address or domain, an id, or a Message-ID; in any case, at most ${LONGEST_TEXT} characters. Required.`,
);
const wantedField: QueryField<string> = {
  schema: anyText.schema,
  read(text, name) {
    const wanted = anyText.read(text, name);
    if (wanted === undefined) {
      throw invalid({ field: name, message: `${name} is required: a name, an address or an id` });
    }
    return wanted;
  },
};

const Kind = (description: string) => Type.Enum([...searchKinds], { description });
const Kinds = (description: string) => Type.Array(Type.Enum([...searchKinds]), { description });

const SearchResultShape = Type.Object(
  {
    kind: Kind("The kind of the resource."),
    id: { ...Id, description: "The id of the resource." } as TSchema,
    title: Type.String({
      description:
        "The name; of a person the address, of a message the subject, of a webhook the URL, of a suppression entry its address or domain.",
    }),
    subtitle: nullable(
      Type.String({
        description:
          "What tells resources of the same title apart, such as the recipient of a message, the name of a person, the subject of a campaign or the list of a segment; null if there is nothing.",
      }),
    ),
    status: nullable(
      Type.String({
        description:
          "The status of a subscriber, campaign, message or autoresponder; `active` or `inactive` of a segment, API key or webhook; `verified` or `unverified` of a sending domain; the reason of a suppression entry; null of a mailing list.",
      }),
    ),
    path: Type.String({
      description:
        "The path of the GET operation that answers the resource. Of a suppression entry it is the search in its list, of a sending domain the status of its DNS records.",
    }),
    is_exact: Type.Boolean({
      description: "Whether the text is the id, the Message-ID, the whole name or the whole address.",
    }),
  },
  { $id: "SearchResult" },
);

const SearchResults = Type.Unsafe<SearchAnswer>(
  Type.Object(
    {
      results: Type.Array(SearchResultShape, {
        description: `At most ${MOST_OF_KIND} of each kind; exact matches first, then by kind.`,
      }),
      kinds: Kinds("The kinds that were searched: those that the caller may read."),
      incomplete: Kinds(
        "Kinds whose search took too long, so that they have no results; ask again, or use the list of that kind.",
      ),
    },
    { $id: "SearchResults" },
  ),
);

interface Dependencies {
  readonly search: EverythingSearch;
}

export function searchEndpoints({ search }: Dependencies): Endpoint[] {
  return [
    endpoint({
      id: "searchEverything",
      method: "GET",
      path: "/search",
      summary: `Search people, messages, campaigns and ${searchKinds.length - 3} other kinds of resources by name, address or id`,
      description:
        "At most five results of each kind, exact matches first. Only kinds that the caller may read are searched. Kinds that took too long are listed in `incomplete`.",
      needs: "authenticated",
      isEveryday: true,
      query: { q: wantedField },
      answer: SearchResults,
      message: ({ results }) => (results.length === 0 ? "Nothing was found" : "Search results"),
      errors: ["RATE_LIMIT_EXCEEDED"],
      handle: ({ caller, query }) => search.search(caller.workspaceId, caller.permissions, query.q),
    }),
  ];
}
