/** Users of the installation, for operators. */
import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, textField } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { Id, NullableTimestamp, Timestamp } from "#platform/shapes.ts";
import { changeInstallationUser } from "#workspace/people/change-installation-user.ts";
import {
  countInstallationUsers,
  findInstallationUser,
  listInstallationUsers,
} from "#workspace/people/installation-users-store.ts";

const changeable = {
  is_operator: Type.Boolean({ description: "Whether the person operates the installation." }),
  is_disabled: Type.Boolean({
    description: "Whether the account is disabled: the person cannot sign in, and their sessions end.",
  }),
};

const UserShape = Type.Object(
  {
    id: Id,
    email: Type.String({ description: "The address that the person signs in with." }),
    name: Type.String({ description: "Their name." }),
    ...changeable,
    workspace_count: Type.Integer({ description: "How many workspaces the person is a member of." }),
    last_seen_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "Last use of a session that has not ended; null without one.",
    }),
    created_at: Timestamp,
  },
  { $id: "InstallationUser" },
);

const UserChanges = Type.Partial(Type.Object(changeable), { $id: "InstallationUserChanges" });

export interface UserDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Clears the authenticator's caches. */
  readonly forgetKeys: () => void;
}

export function installationUserEndpoints({ db, clock, forgetKeys }: UserDeps): Endpoint[] {
  return [
    endpoint({
      id: "listInstallationUsers",
      method: "GET",
      path: "/operator/users",
      summary: "Users of the installation, newest first (operators)",
      description: "Search by name or address. A user may be a member of several workspaces.",
      needs: "operator",
      query: {
        ...cursorFields(),
        search: textField(320, "Part of the name or address, or the id."),
        role: choiceField(["operator"], "`operator`: only people who operate the installation."),
      },
      answer: pageOf("users", UserShape),
      message: "Users",
      async handle({ query }) {
        const { search, role } = query;
        const filter = { search, is_operator: role === "operator" ? true : undefined };
        const walk = new ListPage(query, "listInstallationUsers", search, role);
        const rows = await listInstallationUsers(db, filter, walk.page);
        const shown = walk.shown(rows, await countInstallationUsers(db, filter), ({ id }) => id);
        return { users: shown.rows, pagination: shown.pagination };
      },
    }),
    endpoint({
      id: "getInstallationUser",
      method: "GET",
      path: "/operator/users/{id}",
      summary: "One user of the installation (operators)",
      description: "Account, workspaces and state of one user.",
      needs: "operator",
      answer: UserShape,
      message: "User",
      handle: async ({ params }) => required(await findInstallationUser(db, params.id), "User"),
    }),
    endpoint({
      id: "updateInstallationUser",
      method: "PATCH",
      path: "/operator/users/{id}",
      summary: "Disable or enable a user, or make them an operator (operators)",
      description: "A disabled user is signed out everywhere and cannot sign in. The last operator stays.",
      needs: "operator",
      confirmed: true,
      body: UserChanges,
      answer: UserShape,
      message: "User updated",
      errors: ["CONFLICT"],
      async handle({ params, body }) {
        const changed = await db.transaction((tx) =>
          changeInstallationUser(tx, params.id, body, clock.now()),
        );
        forgetKeys();
        return changed;
      },
    }),
  ];
}
