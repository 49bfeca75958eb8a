/** Sending IPs over HTTP: source addresses of a workspace, their pools and their warm-up. */
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { ApiError, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { CreatedAt, Deleted, described, Id, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { type IpRules, readHostname, readIp, readPool } from "./read-sending-ip.ts";
import { beginRoutingChange } from "./release-after-routing-change.ts";
import {
  findSendingIp,
  insertSendingIp,
  listSendingIps,
  removeSendingIp,
  type SendingIpRow,
  type SendingIpSettings,
  sendingIpRoom,
  updateSendingIp,
} from "./store.ts";

const sendingIps: Resource = { name: "sending_ips", label: "Sending IPs", group: "Sending identity" };

const LaneWarmUp = Type.Object({
  provider: Type.String({ description: "Mailbox provider, as `match.providers` of routing rules has it." }),
  day: Type.Integer({ description: "Day of the plan, from 1; days without mail do not count." }),
  ceiling: Type.Integer({ description: "Messages today (UTC)." }),
  sent_today: Type.Integer({ description: "Messages sent to the provider today." }),
  deferred_today: Type.Integer({
    description: "Messages of today deferred because of our reputation; above 5 % the day is repeated.",
  }),
});

const WarmUp = Type.Object({
  enabled: Type.Boolean({ description: "Whether the daily numbers are limited." }),
  started_at: nullable(described(Timestamp, "When the warm-up began, in UTC; null if it never did.")),
  day: Type.Union([Type.Integer(), Type.Null()], {
    description: "Day of the plan of the most advanced provider; null when the warm-up is off.",
  }),
  sent_today: Type.Integer({ description: "Messages of today to all providers in warm-up." }),
  providers: Type.Array(LaneWarmUp, {
    description: "Empty when the warm-up is off.",
  }),
});

const SendingIp = Type.Object(
  {
    id: described(Id, "Id of the sending IP."),
    ip: Type.String({ description: "The IPv4 or IPv6 address." }),
    hostname: Type.String({ description: "EHLO name; it should also be the PTR record of the address." }),
    pool: nullable(
      Type.String({ description: "Name of the pool that routing rules may choose; null for none." }),
    ),
    is_active: Type.Boolean({ description: "Whether mail may leave from it." }),
    warm_up: described(WarmUp, "The slow start of a new address."),
    created_at: CreatedAt,
  },
  { $id: "SendingIp" },
);

const WarmUpDay = Type.Object(
  {
    date: Type.String({ format: "date", description: "A UTC day." }),
    provider: LaneWarmUp.properties.provider,
    day: Type.Integer({ description: "Day of the plan, from 1." }),
    ceiling: Type.Integer({ description: "Messages that the plan allowed on that day." }),
    sent: Type.Integer({ description: "Messages sent to the provider." }),
    deferred: Type.Integer({ description: "Messages of these deferred because of our reputation." }),
  },
  { $id: "WarmUpDay" },
);

const settings = {
  hostname: omittable(
    Type.String({ maxLength: 300, description: "EHLO name. Omitted: that of the service." }),
  ),
  pool: omittable(
    Type.String({ maxLength: 300, description: "Routing rules may name it instead of an address." }),
  ),
  is_active: omittable(Type.Boolean({ description: "False: mail that must leave from it waits." })),
  warm_up_enabled: omittable(Type.Boolean({ description: "True: starts the warm-up, or continues it." })),
};

const SendingIpInput = Type.Object(
  {
    ip: Type.String({ minLength: 1, maxLength: 100, description: "IPv4 or IPv6." }),
    ...settings,
  },
  { $id: "SendingIpInput" },
);

const SendingIpUpdate = Type.Object(settings, { $id: "SendingIpUpdate" });

/** The warm-up of an address, from delivery. */
export interface WarmUpState {
  readonly day: number;
  readonly sent_today: number;
  readonly providers: readonly Static<typeof LaneWarmUp>[];
}

export interface SendingIpDeps extends IpRules {
  readonly db: Database;
  readonly clock: Clock;
  /** EHLO name of addresses without their own. */
  readonly mailHostname: string;
  /** Warm-ups by id of the sending IP. */
  readonly warmUpsOf: (
    db: Queryable,
    workspaceId: WorkspaceId,
    ips: readonly SendingIpRow[],
    now: Date,
  ) => Promise<ReadonlyMap<string, WarmUpState>>;
  /** The days on which an address in warm-up sent mail, newest first. */
  readonly warmUpHistoryOf: (
    db: Queryable,
    workspaceId: WorkspaceId,
    sendingIpId: string,
    page: Page,
  ) => Promise<{ readonly rows: readonly Static<typeof WarmUpDay>[]; readonly total: number }>;
  /** The campaign or rule that uses the address and keeps it from being deleted, as the beginning of a sentence. */
  readonly userOf: (db: Queryable, workspaceId: WorkspaceId, ip: SendingIpRow) => Promise<string | undefined>;
  /** The rule that sends from the pool and keeps its last address from leaving it, as the beginning of a sentence. */
  readonly userOfPool: (
    db: Queryable,
    workspaceId: WorkspaceId,
    ip: SendingIpRow,
  ) => Promise<string | undefined>;
}

export function sendingIpEndpoints(deps: SendingIpDeps): Endpoint[] {
  const { db, clock } = deps;
  const shownAll = async (workspaceId: WorkspaceId, rows: readonly SendingIpRow[]) => {
    const states = await deps.warmUpsOf(db, workspaceId, rows, clock.now());
    return rows.map((row) => shown(row, deps.mailHostname, states.get(row.id)));
  };
  const shownOne = async (workspaceId: WorkspaceId, row: SendingIpRow | undefined) => {
    if (row === undefined) throw notFound("Sending IP");
    const states = await deps.warmUpsOf(db, workspaceId, [row], clock.now());
    return shown(row, deps.mailHostname, states.get(row.id));
  };
  return [
    endpoint({
      id: "listSendingIps",
      method: "GET",
      path: "/sending-ips",
      summary: "List the sending IPs with the state of their warm-up, newest first",
      description:
        "The addresses that this workspace has to itself, each with how far its warm-up has come with every mailbox provider.",
      needs: need(sendingIps, "read"),
      answer: Type.Array(SendingIp),
      message: "Sending IPs",
      handle: async ({ caller: { workspaceId } }) =>
        shownAll(workspaceId, await listSendingIps(db, workspaceId)),
    }),
    endpoint({
      id: "listWarmUpHistory",
      method: "GET",
      path: "/sending-ips/{id}/warm-up-history",
      summary: "What an address in warm-up sent on each day to each provider, newest first",
      description:
        "One row for a day and provider with mail, kept for 400 days. Compare `sent` with `ceiling`, and see which days were repeated because too much was deferred. Days before the version that has this are missing.",
      needs: need(sendingIps, "read"),
      query: pageFields(),
      answer: pageOf("days", WarmUpDay),
      message: "History of the warm-up",
      async handle({ caller: { workspaceId }, params, query }) {
        required(await findSendingIp(db, workspaceId, params.id), "Sending IP");
        const page = { limit: query.limit, offset: offsetOf(query) };
        const { rows, total } = await deps.warmUpHistoryOf(db, workspaceId, params.id, page);
        return { days: [...rows], pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createSendingIp",
      method: "POST",
      path: "/sending-ips",
      summary: "Claim an address of the delivery machines for this workspace",
      description:
        "The address must be one of the delivery machines and not claimed by another workspace. A routing rule then sends mail from it. Switch the warm-up on for an address that has sent nothing yet.",
      needs: need(sendingIps, "write"),
      body: SendingIpInput,
      answer: SendingIp,
      status: 201,
      errors: ["CONFLICT"],
      message: ({ ip }) => `${ip} was added`,
      async handle({ caller: { workspaceId }, body }) {
        const ip = readIp(body.ip.trim(), deps);
        const row = await db.transaction(async (tx) => {
          await beginRoutingChange(tx, workspaceId);
          await requireBelowRowLimitUnderLock(tx, workspaceId, sendingIpRoom);
          return insertSendingIp(tx, workspaceId, ip, readSettings(body, fresh, clock.now()), clock.now());
        });
        if (row === undefined) throw new ApiError("CONFLICT", `${ip} is already a sending IP`);
        return shownOne(workspaceId, row);
      },
    }),
    endpoint({
      id: "getSendingIp",
      method: "GET",
      path: "/sending-ips/{id}",
      summary: "One sending IP with the state of its warm-up",
      description: "The address with today's numbers of its warm-up.",
      needs: need(sendingIps, "read"),
      answer: SendingIp,
      message: "Sending IP",
      handle: async ({ caller: { workspaceId }, params }) =>
        shownOne(workspaceId, await findSendingIp(db, workspaceId, params.id)),
    }),
    endpoint({
      id: "updateSendingIp",
      method: "PATCH",
      path: "/sending-ips/{id}",
      summary: "Change a sending IP, or switch its warm-up on or off; omitted fields stay",
      description:
        "Deactivating an address lets its mail leave by the remaining rules. Switching the warm-up on starts it from the first day.",
      needs: need(sendingIps, "write"),
      body: SendingIpUpdate,
      answer: SendingIp,
      errors: ["CONFLICT"],
      message: "Sending IP updated",
      async handle({ caller: { workspaceId }, params: { id }, body }) {
        const row = await db.transaction(async (tx) => {
          await beginRoutingChange(tx, workspaceId);
          const before = required(await findSendingIp(tx, workspaceId, id), "Sending IP");
          const settings = readSettings(body, before, clock.now());
          if (settings.pool !== before.pool)
            requireUnused(await deps.userOfPool(tx, workspaceId, before), before);
          return updateSendingIp(tx, workspaceId, id, settings);
        });
        return shownOne(workspaceId, row);
      },
    }),
    endpoint({
      id: "deleteSendingIp",
      method: "DELETE",
      path: "/sending-ips/{id}",
      summary: "Delete a sending IP; mail that waits for it leaves by the remaining rules",
      description:
        "The address is free for other workspaces again. Refused (409) while a routing rule or an unfinished campaign names it.",
      needs: need(sendingIps, "write"),
      answer: Deleted,
      errors: ["CONFLICT"],
      message: "Sending IP deleted",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await db.transaction(async (tx) => {
          await beginRoutingChange(tx, workspaceId);
          const row = required(await findSendingIp(tx, workspaceId, id), "Sending IP");
          requireUnused(await deps.userOf(tx, workspaceId, row), row);
          requireUnused(await deps.userOfPool(tx, workspaceId, row), row);
          await removeSendingIp(tx, workspaceId, id);
        });
        return { id, deleted: true } as const;
      },
    }),
  ];
}

function requireUnused(user: string | undefined, { ip }: SendingIpRow): void {
  if (user !== undefined) throw new ApiError("CONFLICT", `${user} uses the sending IP ${ip}`);
}

const fresh: SendingIpSettings = { hostname: null, pool: null, is_active: true, warm_up_started_at: null };

/** Null clears hostname and pool; for the switches it means unchanged. */
function readSettings(
  body: Static<typeof SendingIpUpdate>,
  before: SendingIpSettings,
  now: Date,
): SendingIpSettings {
  const isWarmingUp = body.warm_up_enabled ?? before.warm_up_started_at !== null;
  return {
    hostname: body.hostname === undefined ? before.hostname : readHostname(body.hostname),
    pool: body.pool === undefined ? before.pool : readPool(body.pool),
    is_active: body.is_active ?? before.is_active,
    warm_up_started_at: isWarmingUp ? (before.warm_up_started_at ?? now) : null,
  };
}

function shown(
  { warm_up_started_at, hostname, ...row }: SendingIpRow,
  mailHostname: string,
  state: WarmUpState | undefined,
): Static<typeof SendingIp> {
  const { day, sent_today, providers } = state ?? { day: null, sent_today: 0, providers: [] };
  return {
    ...row,
    hostname: hostname ?? mailHostname,
    warm_up: {
      enabled: warm_up_started_at !== null,
      started_at: warm_up_started_at,
      day,
      sent_today,
      providers: [...providers],
    },
  };
}
