/** Email validation over HTTP. */
import { type Static, Type } from "typebox";
import { findSourceAddress } from "#identity/routing-rules/routing.ts";
import type { Clock } from "#platform/clock.ts";
import { encodingDescription, readEncodingName } from "#platform/csv/encodings.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields, windowField } from "#platform/http/request/query.ts";
import { fileField } from "#platform/http/request/uploads.ts";
import { offsetOf } from "#platform/http/response/paging.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { JobStarted } from "#platform/jobs/queue.ts";
import { nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { AddressChecker } from "./address-checker.ts";
import { MOST_ADDRESSES } from "./bulk/address-file.ts";
import { startBulkValidation } from "./bulk/start-bulk.ts";
import { validationStatuses } from "./score.ts";
import { countDays, firstDay } from "./stats.ts";
import { listDayCounts, listValidations } from "./store.ts";
import { createValidate } from "./validate.ts";
import { Validation, validations } from "./validation.ts";

/** Of a text that may be no address at all, what is read. */
const LONGEST_EMAIL = 10_000;
const FILE_BYTES = 20 * 1024 * 1024;
/** What a validation takes of the allowance. */
const COST = 1;
const DAYS = { fallback: 30, most: 365 };

const ValidationRequest = Type.Object(
  {
    email: Type.String({
      minLength: 1,
      maxLength: LONGEST_EMAIL,
      description:
        "A text that is no address is no error: its status is invalid, and it costs nothing. Its first 1,000 characters are kept.",
    }),
    routing_rule_id: omittable(
      Type.String({ format: "uuid", description: "The address's server is asked from the IP of this rule." }),
    ),
    virtual_mta_ip: omittable(
      Type.String({
        maxLength: 100,
        description: "A sending IP that the address's server is asked from, or `routing_rule:<uuid>`.",
      }),
    ),
  },
  { $id: "ValidationRequest" },
);

const BulkForm = Type.Object(
  {
    file: fileField(
      `CSV with a column named email (otherwise the first one counts), or one address a line. At most ${FILE_BYTES / 1024 ** 2} MB and ${MOST_ADDRESSES.toLocaleString("en-GB")} addresses.`,
    ),
    encoding: Type.Optional(Type.String({ description: encodingDescription })),
  },
  { $id: "BulkValidation" },
);

const HistoryRow = Type.Object(
  {
    email: Type.String(),
    status: Type.Enum([...validationStatuses]),
    risk_score: Type.Integer(),
    cost: Type.Integer({ description: "What it took of the allowance." }),
    created_at: Timestamp,
  },
  { $id: "ValidationHistoryRow" },
);

const Usage = Type.Object(
  {
    cost_per_validation: Type.Integer({ description: "What an address takes of the allowance." }),
    hour_used: Type.Integer(),
    hour_limit: nullable(Type.Integer({ description: "The workspace's hourly cap; null is none." })),
    month_used: Type.Integer(),
    month_limit: nullable(Type.Integer({ description: "The plan's allowance; null is no limit." })),
    rate_limit_enabled: Type.Boolean({ description: "Whether there is an hourly cap." }),
  },
  { $id: "ValidationUsage" },
);

const counts = {
  total: Type.Integer(),
  valid: Type.Integer(),
  invalid: Type.Integer(),
  catch_all: Type.Integer(),
  disposable: Type.Integer(),
  role_based: Type.Integer(),
  unknown: Type.Integer(),
};

const Stats = Type.Object(
  {
    totals: Type.Object(counts),
    daily: Type.Array(Type.Object({ date: Type.String({ format: "date" }), ...counts }), {
      description: "Every day, oldest first. Days are those of UTC.",
    }),
    days: Type.Integer(),
    since: Timestamp,
  },
  { $id: "ValidationStats" },
);

export interface ValidationDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly examiner: AddressChecker;
}

export function validationEndpoints(deps: ValidationDeps): Endpoint[] {
  const { db, clock, plans } = deps;
  const validate = createValidate(deps);
  return [
    endpoint({
      id: "validateEmail",
      method: "POST",
      path: "/validations",
      mayTakeLong: "asking others",
      summary: "Validate one address",
      needs: need(validations, "write"),
      body: ValidationRequest,
      answer: Validation,
      message: ({ status }) => `The address is ${status}`,
      idempotent: true,
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_EXCEEDED"],
      async handle({ caller: { workspaceId }, body }) {
        const source = await findProbeSource(db, workspaceId, body);
        return validate(workspaceId, { email: body.email, source });
      },
    }),
    endpoint({
      id: "validateFile",
      method: "POST",
      path: "/validations/bulk",
      summary: "Validate the addresses of a file, in the background",
      needs: need(validations, "write"),
      body: BulkForm,
      bodyLimit: FILE_BYTES,
      answer: JobStarted,
      status: 202,
      message: "The validation has started",
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE", "CONFLICT"],
      handle: ({ caller: { workspaceId }, body }) =>
        startBulkValidation(deps, workspaceId, body.file, readEncodingName(body.encoding)),
    }),
    endpoint({
      id: "listValidations",
      method: "GET",
      path: "/validations/history",
      mayTakeLong: "reading",
      summary: "Addresses that were validated, newest first",
      needs: need(validations, "read"),
      query: pageFields(),
      answer: Type.Array(HistoryRow),
      message: "Validation history",
      handle: ({ caller, query }) =>
        listValidations(db, caller.workspaceId, { limit: query.limit, offset: offsetOf(query) }),
    }),
    endpoint({
      id: "getValidationUsage",
      method: "GET",
      path: "/validations/usage",
      summary: "What was used of the hour's and the month's allowance",
      needs: need(validations, "read"),
      answer: Usage,
      message: "Validation usage",
      async handle({ caller }) {
        const reading = await getMeterReading(db, plans, caller.workspaceId, clock.now());
        const { hourly_cap } = reading.account;
        return {
          cost_per_validation: COST,
          hour_used: reading.usedInHour.validation,
          hour_limit: hourly_cap,
          // What is given back for the last moments of a period counts in the next one.
          month_used: Math.max(0, reading.used.validation),
          month_limit: reading.plan.allowances.validation,
          rate_limit_enabled: hourly_cap !== null,
        };
      },
    }),
    endpoint({
      id: "getValidationStats",
      method: "GET",
      path: "/validations/stats",
      mayTakeLong: "reading",
      summary: "Answers by status, in all and by day",
      needs: need(validations, "read"),
      query: { days: windowField(DAYS.most, DAYS.fallback) },
      answer: Stats,
      message: "Validation statistics",
      async handle({ caller, query: { days } }): Promise<Static<typeof Stats>> {
        const since = firstDay(clock.now(), days);
        const rows = await listDayCounts(db, caller.workspaceId, since.toISOString().slice(0, 10));
        return { ...countDays(rows, since, days), days, since };
      },
    }),
  ];
}

/**
 * Null: the machine's choice.
 * @throws ApiError VALIDATION_ERROR for what this workspace does not have, or has switched off
 */
export async function findProbeSource(
  db: Queryable,
  workspaceId: WorkspaceId,
  wish: { readonly routing_rule_id?: string | null; readonly virtual_mta_ip?: string | null },
): Promise<string | null> {
  const virtualMtaIp = wish.virtual_mta_ip?.trim() || null;
  const routingRuleId = wish.routing_rule_id ?? null;
  const source = await findSourceAddress(db, workspaceId, { virtualMtaIp, routingRuleId });
  if (source !== "unknown") return source;
  const field = virtualMtaIp === null ? "routing_rule_id" : "virtual_mta_ip";
  const noun = virtualMtaIp === null ? "routing rule" : "sending IP";
  throw invalid({ field, message: `${field} is no active ${noun} of this workspace` });
}
