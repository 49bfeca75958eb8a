/** Inbound routes over HTTP: which mail a workspace receives, and what becomes of it. */

import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { CreatedAt, Deleted, described, Id, nullable, omittable, UpdatedAt } from "#platform/shapes.ts";
import { LONGEST_PATTERN } from "./address-pattern.ts";
import { readRoute } from "./read-route.ts";
import {
  countInboundRoutes,
  findInboundRoute,
  type InboundRouteRow,
  inboundRouteRoom,
  insertInboundRoute,
  listInboundRoutes,
  lockInboundRoute,
  removeInboundRoute,
  type ShownRoute,
  updateInboundRoute,
} from "./store.ts";

const inboundRoutes: Resource = { name: "inbound_routes", label: "Inbound routes", group: "Receiving" };

const about = {
  webhook: "Whether each mail is announced to the webhooks of the workspace, as `email.received`.",
  keep: "Whether mail is kept for `GET /received-emails`, and its attachments for download. False: it is deleted when its event is written.",
  spam_action: "What becomes of spam: `reject` refuses it with 550 5.7.1, `mark` sets `is_spam`.",
};

const fields = {
  priority: Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Lower goes first." }),
  webhook: Type.Boolean({ description: about.webhook }),
  keep: Type.Boolean({ description: about.keep }),
  max_bytes: Type.Integer({
    minimum: 1_024,
    maximum: limits.receivedMailBytes.most,
    description: "Octets of the largest mail; a larger one is refused.",
  }),
  spam_threshold: nullable(
    Type.Number({
      minimum: -100,
      maximum: 1_000,
      description:
        "From this score of the spam scanner on a mail counts as spam. Null: from the scanner's own threshold on. Without a scanner (SPAMD_URL) mail has no score.",
    }),
  ),
  spam_action: Type.Enum(["reject", "mark"], { description: about.spam_action }),
  is_active: Type.Boolean({ description: "Whether the route is tried." }),
};

const PATTERN =
  "The addresses of the route: `support@acme.example` (also with a tag, `support+1042@acme.example`), `ticket-*@acme.example`, or `*@acme.example` for all others.";

const InboundRoute = Type.Object(
  {
    id: described(Id, "Id of the route."),
    pattern: Type.String({ description: PATTERN }),
    ...fields,
    is_receiving: Type.Boolean({
      description: "Whether mail is received now: the route is active, and its domain is verified.",
    }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "InboundRoute" },
);

const pattern = Type.String({
  minLength: 3,
  maxLength: LONGEST_PATTERN,
  description: `${PATTERN} The domain is a verified sending domain of the workspace, or a name below one.`,
});

const optional = {
  priority: omittable(described(fields.priority, "Lower goes first; 100 when omitted.")),
  webhook: omittable(described(fields.webhook, `${about.webhook} True when omitted.`)),
  keep: omittable(described(fields.keep, `${about.keep} True when omitted.`)),
  max_bytes: omittable(
    described(fields.max_bytes, "Octets of the largest mail; the most that the service takes when omitted."),
  ),
  spam_threshold: Type.Optional(fields.spam_threshold),
  spam_action: omittable(described(fields.spam_action, `${about.spam_action} \`mark\` when omitted.`)),
  is_active: omittable(described(fields.is_active, "Whether the route is tried; true when omitted.")),
};

const InboundRouteInput = Type.Object({ pattern, ...optional }, { $id: "InboundRouteInput" });
const InboundRouteUpdate = Type.Object(
  { pattern: omittable(pattern), ...optional },
  { $id: "InboundRouteUpdate" },
);

export interface InboundRouteDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** The domain of return paths, which takes no routes. */
  readonly bounceDomain: string;
}

export function inboundRouteEndpoints({ db, clock, bounceDomain }: InboundRouteDeps): Endpoint[] {
  const found = async (tx: Queryable, workspaceId: WorkspaceId, id: string) =>
    required(await findInboundRoute(tx, workspaceId, id), "Inbound route");
  return [
    endpoint({
      id: "listInboundRoutes",
      method: "GET",
      path: "/inbound-routes",
      summary: "List the inbound routes in the order in which they are tried",
      description:
        "Mail takes the first active route whose pattern matches its recipient: by `priority`, then exact addresses before those with a `*`, then the longer pattern. Mail without a route is refused.",
      needs: need(inboundRoutes, "read"),
      query: pageFields(),
      answer: pageOf("inbound_routes", InboundRoute),
      message: "Inbound routes",
      async handle({ caller: { workspaceId }, query }) {
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [rows, total] = await Promise.all([
          listInboundRoutes(db, workspaceId, page),
          countInboundRoutes(db, workspaceId),
        ]);
        return { inbound_routes: rows.map(shown), pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createInboundRoute",
      method: "POST",
      path: "/inbound-routes",
      summary: "Receive mail to an address, a group of addresses or a whole domain",
      description: `Publish the MX record that \`GET /sending-domains/{id}/dns-status\` then shows for the domain. A workspace has at most ${inboundRouteRoom.most} inbound routes.`,
      needs: need(inboundRoutes, "write"),
      body: InboundRouteInput,
      answer: InboundRoute,
      status: 201,
      errors: ["CONFLICT"],
      message: "Inbound route created",
      handle: ({ caller: { workspaceId }, body }) =>
        db.transaction(async (tx) => {
          await requireBelowRowLimit(tx, workspaceId, inboundRouteRoom);
          const now = clock.now();
          const before = { ...defaults, id: newId(), created_at: now };
          const route = await readRoute({ tx, workspaceId, bounceDomain, now }, body, before);
          if (!(await insertInboundRoute(tx, workspaceId, route))) throw samePattern(route);
          return shown(await found(tx, workspaceId, route.id));
        }),
    }),
    endpoint({
      id: "getInboundRoute",
      method: "GET",
      path: "/inbound-routes/{id}",
      summary: "One inbound route",
      description: "Its addresses, what becomes of their mail, and whether it is received now.",
      needs: need(inboundRoutes, "read"),
      answer: InboundRoute,
      message: "Inbound route",
      handle: async ({ caller, params }) => shown(await found(db, caller.workspaceId, params.id)),
    }),
    endpoint({
      id: "updateInboundRoute",
      method: "PATCH",
      path: "/inbound-routes/{id}",
      summary: "Change an inbound route; omitted fields stay",
      description: "The change holds for mail whose recipient is named from now on.",
      needs: need(inboundRoutes, "write"),
      body: InboundRouteUpdate,
      answer: InboundRoute,
      errors: ["CONFLICT"],
      message: "Inbound route updated",
      handle: ({ caller: { workspaceId }, params: { id }, body }) =>
        db.transaction(async (tx) => {
          const locked = await lockInboundRoute(tx, workspaceId, id);
          const { is_receiving: _shown, ...before } = required(locked, "Inbound route");
          if (isEmptyChange(InboundRouteUpdate, body)) return shown(await found(tx, workspaceId, id));
          const route = await readRoute({ tx, workspaceId, bounceDomain, now: clock.now() }, body, before);
          if (!(await updateInboundRoute(tx, workspaceId, route))) throw samePattern(route);
          return shown(await found(tx, workspaceId, id));
        }),
    }),
    endpoint({
      id: "deleteInboundRoute",
      method: "DELETE",
      path: "/inbound-routes/{id}",
      summary: "Delete an inbound route; mail that it has received stays",
      description:
        "Mail to its addresses takes the next route that matches, or is refused. With the last active route of a domain, all mail to the domain is refused.",
      needs: need(inboundRoutes, "write"),
      answer: Deleted,
      message: "Inbound route deleted",
      async handle({ caller: { workspaceId }, params: { id } }) {
        if (!(await removeInboundRoute(db, workspaceId, id))) throw notFound("Inbound route");
        return { id, deleted: true } as const;
      },
    }),
  ];
}

const defaults = {
  local_part: "",
  domain: "",
  priority: 100,
  webhook: true,
  keep: true,
  max_bytes: limits.receivedMailBytes.most,
  spam_threshold: null,
  spam_action: "mark",
  is_active: true,
} satisfies Partial<InboundRouteRow>;

function shown({ local_part, domain, ...route }: ShownRoute): Static<typeof InboundRoute> {
  return { ...route, pattern: `${local_part}@${domain}` };
}

function samePattern({ local_part, domain }: InboundRouteRow): ApiError {
  return new ApiError("CONFLICT", `There is an inbound route for ${local_part}@${domain} already: change it`);
}
