/** Shapes of blacklist checks and monitors in requests and answers. */
import { Type } from "typebox";
import { described, Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { checkStatuses, checkTypes } from "./check-store.ts";
import { zoneStatuses } from "./checker.ts";
import { monitorStatuses } from "./monitor-store.ts";
import { targetTypes } from "./target.ts";
import { zoneWeights } from "./zones.ts";

const TargetName = Type.String({
  description: "IP address in canonical form, or domain in lower-case A-labels.",
});
const TargetType = Type.Enum([...targetTypes]);
const ZoneStatus = Type.Enum([...zoneStatuses], {
  description:
    "`listed`, `not_listed`; `skipped`: not queried, because the zone does not list such targets, is switched off or fails its self-test; `timeout`: no answer within 5 seconds; `error`: the zone or the DNS refused the query.",
});

export const BlacklistCheck = Type.Object(
  {
    target: described(TargetName, "The address or domain that was checked."),
    target_type: described(TargetType, "What the target is."),
    total_checked: Type.Integer({ description: "Zones that were queried: all except the skipped ones." }),
    listed_count: Type.Integer({ description: "Number of blacklists that list it." }),
    results: Type.Array(
      Type.Object({
        zone: Type.String({ description: "Name of the blacklist." }),
        status: described(ZoneStatus, "The result at this blacklist."),
        description: Type.String({
          description: "Why the target is listed, or why that is unknown; otherwise what the zone lists.",
        }),
        delisting_info: nullable(
          Type.String({
            description: "Where to ask for removal of a listing; null if the zone has no such page.",
          }),
        ),
      }),
      { description: "Listed first, then by name." },
    ),
    checked_at: described(Timestamp, "Time of the check, in UTC."),
    remaining_checks: nullable(Type.Integer({ description: "Null: no limit." })),
    allowance: Type.Object(
      {
        used: Type.Integer({ description: "Checks that are used." }),
        limit: nullable(Type.Integer({ description: "Null: no limit." })),
        remaining: nullable(Type.Integer({ description: "Checks that are left; null is no limit." })),
        resets_at: described(Timestamp, "When the allowance starts again, in UTC."),
      },
      { description: "Blacklist checks of the plan in this period." },
    ),
  },
  { $id: "BlacklistCheck" },
);

export const BlacklistZone = Type.Object(
  {
    zone: Type.String({ description: "Name of the blacklist, as results have it." }),
    target_types: Type.Array(Type.Enum(["ip4", "ip6", "domain"]), {
      description: "What it lists: IPv4 addresses, IPv6 addresses, domains.",
    }),
    description: Type.String({ description: "Whose list it is, and what it lists." }),
    weight: Type.Enum([...zoneWeights], {
      description:
        "What a listing does to mail. `high`: large mailbox providers or many companies refuse it; `medium`: many filters count it; `low`: few servers look at it.",
    }),
    delisting_info: nullable(
      Type.String({
        description:
          "Where to ask for removal; `{target}` stands for the address or domain. Null if the zone has no such page.",
      }),
    ),
    is_used: Type.Boolean({ description: "Whether checks ask it; the operator switches zones on and off." }),
  },
  { $id: "BlacklistZone" },
);

export const BlacklistMonitor = Type.Object(
  {
    id: described(Id, "Id of the monitor."),
    target: described(TargetName, "The address or domain that is watched."),
    target_type: described(TargetType, "What the target is."),
    frequency_minutes: Type.Integer({ description: "Minutes between two checks." }),
    notify: Type.Boolean({ description: "Whether mail is sent when the target is listed or delisted." }),
    status: Type.Enum([...monitorStatuses], { description: "Whether it runs." }),
    last_checked_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "The last run in which at least one zone answered.",
    }),
    next_run_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Null while paused." }),
    last_listed_count: Type.Integer({ description: "0 before the first run." }),
    last_listed_zones: Type.Array(Type.String(), {
      description: "A zone that did not answer keeps its previous state.",
    }),
    last_error: nullable(
      Type.String({ description: "Why the last run gave no result; null when it gave one." }),
    ),
  },
  { $id: "BlacklistMonitor" },
);

export const BlacklistHistoryRow = Type.Object(
  {
    id: described(Id, "Id of the check."),
    target: described(TargetName, "The address or domain that was checked."),
    target_type: described(TargetType, "What the target is."),
    check_type: Type.Enum([...checkTypes], { description: "What started the check: a call or a monitor." }),
    status: Type.Enum([...checkStatuses], {
      description:
        "`error`: no zone answered, which costs nothing; `skipped`: neither allowance nor balance covered it when the monitor was due.",
    }),
    listed_count: Type.Integer({ description: "Number of blacklists that listed it." }),
    total_checked: Type.Integer({ description: "Number of blacklists that answered." }),
    cost: Type.Integer({ description: "Checks charged: 0 or 1." }),
    created_at: described(Timestamp, "Time of the check, in UTC."),
    result: Type.Record(Type.String(), ZoneStatus, { description: "Status by zone." }),
  },
  { $id: "BlacklistHistoryRow" },
);

const target = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: "A public IP address (version 4 or 6) or a domain.",
});
const FREQUENCY = { minimum: 60, maximum: 43_200 };
/** The default minutes between two runs. */
export const DAILY = 1_440;
const notify = Type.Boolean({
  default: true,
  description: "Send a notice to the workspace's notify_email when the zones that list the target change.",
});
export const CheckInput = Type.Object({ target }, { $id: "BlacklistCheckInput" });
export const MonitorInput = Type.Object(
  {
    target,
    frequency_minutes: Type.Optional(
      Type.Integer({
        ...FREQUENCY,
        default: DAILY,
        description: "Minutes between two checks; a day when omitted.",
      }),
    ),
    notify: Type.Optional(described(notify, "Whether mail is sent when the target is listed or delisted.")),
  },
  { $id: "BlacklistMonitorInput" },
);
export const MonitorUpdate = Type.Object(
  {
    frequency_minutes: Type.Optional(described(Type.Integer(FREQUENCY), "Minutes between two checks.")),
    notify: Type.Optional(
      Type.Boolean({ description: "Whether mail is sent when the target is listed or delisted." }),
    ),
    status: Type.Optional(
      Type.Enum([...monitorStatuses], { description: "A resumed monitor runs at once." }),
    ),
  },
  { $id: "BlacklistMonitorUpdate" },
);
