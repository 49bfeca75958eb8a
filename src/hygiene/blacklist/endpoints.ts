/** Blacklist checks: one now, monitors that repeat it, and the history of both. */

import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, notFound, overloaded, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { dayField, startOfDay } from "#platform/http/request/day-parameters.ts";
import {
  choiceField,
  idField,
  pageFields,
  type QueryField,
  textField,
} from "#platform/http/request/query.ts";
import { Deleted } from "#platform/shapes.ts";
import { type CheckDeps, recordManualCheck, requireCheck } from "./charge-and-record-check.ts";
import { checkTypes, hasRuns, listChecks } from "./check-store.ts";
import {
  findMonitor,
  insertMonitor,
  listMonitors,
  monitorRoom,
  removeMonitor,
  updateMonitor,
} from "./monitor-store.ts";
import { blacklist } from "./permission.ts";
import { runMonitorsNow } from "./run-monitors.ts";
import {
  BlacklistCheck,
  BlacklistHistoryRow,
  BlacklistMonitor,
  BlacklistZone,
  CheckInput,
  DAILY,
  MonitorInput,
  MonitorUpdate,
} from "./shapes.ts";
import { readTarget } from "./target.ts";
import { type Zone, zoneWeights } from "./zones.ts";

/** Checks at a time in this process; each queries at most 20 zones at a time. */
const MOST_CHECKS_AT_ONCE = 100;
const DEEPEST_OFFSET = 1_000_000;

const offset: QueryField<number> = {
  schema: Type.Integer({ minimum: 0, maximum: DEEPEST_OFFSET, default: 0, description: "Rows to skip." }),
  read: (text) => (/^\d+$/.test(text ?? "") ? Math.min(Number(text), DEEPEST_OFFSET) : 0),
};

/** @param zones the catalogue that checks use */
export function blacklistEndpoints(deps: CheckDeps, zones: readonly Zone[]): Endpoint[] {
  const { db, clock, checker } = deps;
  let running = 0;
  return [
    endpoint({
      id: "checkBlacklists",
      method: "POST",
      path: "/blacklist/check",
      mayTakeLong: "asking others",
      summary: "Check an IP address or a domain against all blacklists now",
      description:
        "Asks every blacklist that this installation uses, within some seconds. Costs one check of the plan. Use a monitor to watch an address or a domain over time.",
      needs: need(blacklist, "write"),
      unaudited: "checks are in a log of their own",
      body: CheckInput,
      answer: BlacklistCheck,
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      message: ({ listed_count, total_checked }) =>
        `Listed in ${listed_count} of ${total_checked} blacklists`,
      async handle({ caller: { workspaceId }, body }) {
        const asked = readTarget(body.target);
        if (running >= MOST_CHECKS_AT_ONCE)
          throw overloaded("Too many blacklist checks are running: try again");
        running++;
        try {
          await requireCheck(deps, workspaceId);
          const checked = await checker.check(asked);
          const { allowance, checkedAt } = await recordManualCheck(deps, workspaceId, checked);
          return {
            ...checked,
            checked_at: checkedAt,
            remaining_checks: allowance.remaining,
            allowance,
          };
        } finally {
          running--;
        }
      },
    }),
    endpoint({
      id: "listBlacklistZones",
      method: "GET",
      path: "/blacklist/zones",
      summary: "The blacklists of this installation, what a listing costs, and how to get off each",
      description:
        "The catalogue that checks and monitors use, with the operator's changes; those with the greatest weight first. Use it to tell which of the zones in a result matters, and where to ask for removal.",
      needs: need(blacklist, "read"),
      answer: Type.Array(BlacklistZone),
      message: "Blacklists",
      async handle() {
        return zones.map(shownZone).toSorted((one, other) => rankOf(one) - rankOf(other));
      },
    }),
    endpoint({
      id: "listBlacklistMonitors",
      method: "GET",
      path: "/blacklist/monitors",
      summary: "List the monitors, newest first",
      description: "The monitors with the result of their last check.",
      needs: need(blacklist, "read"),
      answer: Type.Array(BlacklistMonitor),
      message: "Blacklist monitors",
      handle: ({ caller }) => listMonitors(db, caller.workspaceId),
    }),
    endpoint({
      id: "createBlacklistMonitor",
      method: "POST",
      path: "/blacklist/monitors",
      summary: `Create a monitor for an IP address or a domain, at most ${monitorRoom.most} per workspace; it runs within a minute`,
      description:
        "Watches an IP address or a domain. When a blacklist lists or delists it, mail is sent if notices are switched on, and `blacklist.listed` or `blacklist.delisted` to webhooks.",
      needs: need(blacklist, "write"),
      // Each of its runs is a check of the plan, which may be charged.
      outward: "spends",
      body: MonitorInput,
      answer: BlacklistMonitor,
      status: 201,
      errors: ["CONFLICT"],
      message: (monitor) => `${monitor.target} is monitored`,
      async handle({ caller: { workspaceId }, body }) {
        const watched = readTarget(body.target);
        const { frequency_minutes = DAILY, notify: isNotified = true } = body;
        const monitor = await db.transaction(async (tx) => {
          await requireBelowRowLimit(tx, workspaceId, monitorRoom);
          const settings = { ...watched, frequency_minutes, notify: isNotified };
          const inserted = await insertMonitor(tx, workspaceId, settings, clock.now());
          if (inserted !== undefined) await runMonitorsNow(tx);
          return inserted;
        });
        if (monitor === undefined) throw new ApiError("CONFLICT", `${watched.target} is already monitored`);
        return monitor;
      },
    }),
    endpoint({
      id: "getBlacklistMonitor",
      method: "GET",
      path: "/blacklist/monitors/{id}",
      summary: "Get a monitor",
      description: "The monitor with the result of its last check.",
      needs: need(blacklist, "read"),
      answer: BlacklistMonitor,
      message: "Blacklist monitor",
      async handle({ caller, params: { id } }) {
        return required(await findMonitor(db, caller.workspaceId, id), "Blacklist monitor");
      },
    }),
    endpoint({
      id: "updateBlacklistMonitor",
      method: "PATCH",
      path: "/blacklist/monitors/{id}",
      summary: "Change a monitor's frequency or notices, or pause or resume it",
      description:
        "A resumed monitor runs within a minute. The target cannot change: create another monitor instead.",
      needs: need(blacklist, "write"),
      outward: "spends",
      body: MonitorUpdate,
      answer: BlacklistMonitor,
      message: "Blacklist monitor updated",
      async handle({ caller, params: { id }, body }) {
        const { frequency_minutes = null, notify: isNotified = null, status = null } = body;
        const changes = { frequency_minutes, notify: isNotified, status };
        const monitor = await db.transaction(async (tx) => {
          const changed = await updateMonitor(tx, caller.workspaceId, id, changes, clock.now());
          if (status === "active") await runMonitorsNow(tx);
          return changed;
        });
        if (monitor === undefined) throw notFound("Blacklist monitor");
        return monitor;
      },
    }),
    endpoint({
      id: "deleteBlacklistMonitor",
      method: "DELETE",
      path: "/blacklist/monitors/{id}",
      summary: "Delete a monitor; its history is kept",
      description: "It runs no more. Its checks stay in `GET /blacklist/history`.",
      needs: need(blacklist, "write"),
      answer: Deleted,
      message: "Blacklist monitor deleted",
      async handle({ caller, params: { id } }) {
        if (!(await removeMonitor(db, caller.workspaceId, id))) throw notFound("Blacklist monitor");
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "listBlacklistHistory",
      method: "GET",
      path: "/blacklist/history",
      summary: "List the checks of the last 400 days, newest first",
      description:
        "Checks that were asked for and those of monitors, with the blacklists that listed the target.",
      needs: need(blacklist, "read"),
      query: {
        from: dayField("First day, in the workspace's time zone."),
        to: dayField("Last day, inclusive."),
        target: textField(1_000, "Only checks of this target."),
        check_type: choiceField(checkTypes, "Only manual or scheduled checks."),
        monitor_id: idField("Only the runs of this monitor, which may be deleted."),
        limit: pageFields().limit,
        offset,
      },
      answer: Type.Array(BlacklistHistoryRow),
      message: "Blacklist checks",
      async handle({ caller: { workspaceId, timezone }, query }) {
        const { from, to, check_type, monitor_id } = query;
        const filter = {
          ...momentsOf(from, to, timezone),
          target: query.target && readTarget(query.target).target,
          check_type,
          monitor_id,
        };
        const isKnown = async (id: string) =>
          (await findMonitor(db, workspaceId, id)) !== undefined || (await hasRuns(db, workspaceId, id));
        if (monitor_id !== undefined && !(await isKnown(monitor_id))) {
          throw invalid({ field: "monitor_id", message: "monitor_id is not a monitor of this workspace" });
        }
        return listChecks(db, workspaceId, filter, query);
      },
    }),
  ];
}

/**
 * The time range of `from` to `to` (whole days, inclusive) in a time zone.
 * @throws ApiError VALIDATION_ERROR when the last day is before the first
 */
function momentsOf(
  from: Temporal.PlainDate | undefined,
  to: Temporal.PlainDate | undefined,
  timezone: string,
): { readonly since: Date | undefined; readonly before: Date | undefined } {
  if (from && to && Temporal.PlainDate.compare(from, to) > 0) {
    throw invalid({ field: "to", message: "to must not be before from" });
  }
  const begin = (day: Temporal.PlainDate | undefined) => day && startOfDay(day, timezone);
  return { since: begin(from), before: begin(to?.add({ days: 1 })) };
}

/** Without the name that is asked, which may contain a key. */
function shownZone({ name, types, description, weight = "low", delisting, enabled = true }: Zone) {
  return {
    zone: name,
    target_types: types,
    description,
    weight,
    delisting_info: delisting ?? null,
    is_used: enabled,
  } satisfies Static<typeof BlacklistZone>;
}

const rankOf = ({ weight }: Pick<Static<typeof BlacklistZone>, "weight">) => zoneWeights.indexOf(weight);
