/** What uses a segment or a custom field: in a few words, and as a list that leads there. */
import type { Schema } from "@posthaste/client";
import { countText } from "../../parts/numbers.ts";
import { PlaceLink } from "../../shell/place-link.tsx";

type UsedBy = Schema<"UsedBy">;
type User = UsedBy["users"][number];

interface Kind {
  readonly one: string;
  readonly many: string;
  /** Its page, below the workspace; undefined if it has none. */
  readonly page?: (user: User) => string;
}

const kinds: Readonly<Record<User["kind"], Kind>> = {
  campaign: { one: "campaign", many: "campaigns", page: ({ id }) => `campaigns/${id}` },
  autoresponder: { one: "autoresponder", many: "autoresponders" },
  segment: {
    one: "segment",
    many: "segments",
    page: ({ id, mailing_list_id }) => `lists/${mailing_list_id}/segments/${id}`,
  },
  suppression_list: {
    one: "suppression list",
    many: "suppression lists",
    page: ({ id }) => `suppression/${id}`,
  },
  import: { one: "import", many: "imports", page: ({ id }) => `jobs?open=${id}` },
};

/** `2 segments and 1 campaign`; only a number when not all of them are known. */
export function usesText({ total, users }: UsedBy): string {
  if (users.length < total) return `${countText(total)} others`;
  const parts = [...new Set(users.map(({ kind }) => kind))].map((kind) => {
    const { length } = users.filter((user) => user.kind === kind);
    return `${length} ${length === 1 ? kinds[kind].one : kinds[kind].many}`;
  });
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : (parts[0] ?? "");
}

/** The users, each with its kind; those that prevent a deletion are marked only beside others that do not. */
export function UsersOf({ usedBy: { total, users } }: { readonly usedBy: UsedBy }) {
  const isMixed = users.some((user) => !user.prevents_deletion);
  const more = total - users.length;
  return (
    <ul>
      {users.map((user) => {
        const { one, page } = kinds[user.kind];
        return (
          <li key={`${user.kind} ${user.id}`} className="min-h-6 truncate">
            The {one}{" "}
            {page ? (
              <PlaceLink to={page(user)} className="text-accent underline">
                {user.name}
              </PlaceLink>
            ) : (
              <span className="font-medium">{user.name}</span>
            )}
            {isMixed && !user.prevents_deletion && ", which does not keep it"}
          </li>
        );
      })}
      {more > 0 && <li className="min-h-6">and {countText(more)} more</li>}
    </ul>
  );
}
