/** What uses a segment or a custom field: in a few words, and as a list that leads there. */
import type { Schema } from "@posthaste/client";
import type { ComponentProps } from "react";
import { counted, countText } from "../../parts/numbers.ts";
import { PlaceLink } from "../../shell/place-link.tsx";

type UsedBy = Schema<"UsedBy">;
type User = UsedBy["users"][number];

interface Kind {
  readonly one: string;
  readonly many: string;
  /** Its page, below the workspace; undefined if it has none. */
  readonly page?: (user: User) => Pick<ComponentProps<typeof PlaceLink>, "to" | "search">;
}

const kinds: Readonly<Record<User["kind"], Kind>> = {
  campaign: { one: "campaign", many: "campaigns", page: ({ id }) => ({ to: `campaigns/${id}` }) },
  autoresponder: { one: "autoresponder", many: "autoresponders" },
  segment: {
    one: "segment",
    many: "segments",
    page: ({ id, mailing_list_id }) => ({ to: `lists/${mailing_list_id}/segments/${id}` }),
  },
  suppression_list: {
    one: "suppression list",
    many: "suppression lists",
    page: ({ id }) => ({ to: `suppression/${id}` }),
  },
  import: { one: "import", many: "imports", page: ({ id }) => ({ to: "jobs", search: { open: id } }) },
  template: { one: "template", many: "templates" },
  brand: { one: "brand", many: "brands" },
  workspace: { one: "workspace", many: "workspaces" },
};

/** `2 segments and 1 campaign`; only a number when not all of them are known. */
export function usesText({ total, users }: UsedBy): string {
  if (users.length < total) return counted(total, "other thing");
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
              <PlaceLink {...page(user)} className="text-accent underline">
                {user.name}
              </PlaceLink>
            ) : (
              <span className="font-medium">{user.name}</span>
            )}
            {isMixed && !user.prevents_deletion && " (does not prevent its deletion)"}
          </li>
        );
      })}
      {more > 0 && <li className="min-h-6">and {countText(more)} more</li>}
    </ul>
  );
}

/** For the question before a deletion: what uses it, and whether that prevents the deletion. */
export function UsersBeforeDeletion({ usedBy }: { readonly usedBy: UsedBy }) {
  if (usedBy.total === 0) return null;
  return (
    <>
      <p className="mt-3 mb-1 text-text">
        {usedBy.prevents_deletion ? "It cannot be deleted while these use it:" : "These use it:"}
      </p>
      <UsersOf usedBy={usedBy} />
    </>
  );
}
