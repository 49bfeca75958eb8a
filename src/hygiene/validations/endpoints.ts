/** Endpoints of email validation. */
import { type Static, Type } from "typebox";
import { findSourceAddress } from "#identity/routing-rules/load-routing.ts";
import type { Clock } from "#platform/clock.ts";
import { encodingDescription, readEncodingName } from "#platform/csv/encodings.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { lenientWindowField, pageFields } from "#platform/http/request/query.ts";
import { fileField } from "#platform/http/request/uploads.ts";
import { offsetOf } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { JobLabel, JobStarted } from "#platform/jobs/start-or-cancel-job.ts";
import { described, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { AddressChecker } from "./address-checker.ts";
import { MOST_ADDRESSES } from "./bulk/address-file.ts";
import { startBulkValidation } from "./bulk/start-bulk.ts";
import { createValidate } from "./charged-validation.ts";
import { countDays, firstDay } from "./counts-by-day.ts";
import { validationStatuses } from "./score.ts";
import { listDayCounts, listValidations } from "./store.ts";
import { Validation, validations } from "./validation.ts";

/** Characters; the text need not be an address. */
const LONGEST_EMAIL = 10_000;
const FILE_BYTES = 20 * 1024 * 1024;
/** Validations charged per address. */
const COST = 1;
const DAYS = { fallback: 30, most: 365 };

const ValidationRequest = Type.Object(
  {
    email: Type.String({
      minLength: 1,
      maxLength: LONGEST_EMAIL,
      description:
        "A text that is not an address is no error: its status is `invalid`, and it costs nothing. Its first 1,000 characters are kept.",
    }),
    routing_rule_id: omittable(
      Type.String({
        format: "uuid",
        description: "The mail server is asked from the IP of this routing rule.",
      }),
    ),
    virtual_mta_ip: omittable(
      Type.String({
        maxLength: 100,
        description: "The sending IP from which the mail server is asked, or `routing_rule:<uuid>`.",
      }),
    ),
  },
  { $id: "ValidationRequest" },
);

const BulkForm = Type.Object(
  {
    file: fileField(
      `A CSV file with a column named email (default: the first column), or one address a line. At most ${FILE_BYTES / 1024 ** 2} MB and ${MOST_ADDRESSES.toLocaleString("en-GB")} addresses.`,
    ),
    encoding: Type.Optional(Type.String({ description: encodingDescription })),
    label: JobLabel,
  },
  { $id: "BulkValidation" },
);

const HistoryRow = Type.Object(
  {
    email: Type.String({ description: "The text that was validated." }),
    status: Type.Enum([...validationStatuses], { description: "The result." }),
    risk_score: Type.Integer({ description: "Risk from 0 (none) to 10." }),
    cost: Type.Integer({ description: "Validations charged: 0 or 1." }),
    created_at: described(Timestamp, "When it was validated, in UTC."),
  },
  { $id: "ValidationHistoryRow" },
);

const Usage = Type.Object(
  {
    cost_per_validation: Type.Integer({ description: "Validations charged per address." }),
    hour_used: Type.Integer({ description: "Validations of this hour." }),
    hour_limit: nullable(Type.Integer({ description: "The workspace's hourly cap; null: none." })),
    month_used: Type.Integer({ description: "Validations of this month." }),
    month_limit: nullable(Type.Integer({ description: "The plan's allowance; null: no limit." })),
    rate_limit_enabled: Type.Boolean({ description: "Whether there is an hourly cap." }),
  },
  { $id: "ValidationUsage" },
);

const counts = {
  total: Type.Integer({ description: "All validations." }),
  valid: Type.Integer({ description: "Addresses that can be delivered to." }),
  invalid: Type.Integer({ description: "Addresses that cannot be delivered to." }),
  catch_all: Type.Integer({ description: "Addresses at domains that accept every address." }),
  disposable: Type.Integer({ description: "Addresses of providers of throw-away mailboxes." }),
  role_based: Type.Integer({ description: "Addresses of a role such as `info@`." }),
  unknown: Type.Integer({ description: "Addresses whose server gave no clear answer." }),
};

const Stats = Type.Object(
  {
    totals: Type.Object(counts, { description: "Results of the whole window, by status." }),
    daily: Type.Array(
      Type.Object({
        date: Type.String({ format: "date", description: "The day, in the workspace's time zone." }),
        ...counts,
      }),
      {
        description: "All days in UTC, oldest first, including those without validations.",
      },
    ),
    days: Type.Integer({ description: "Number of days in the window." }),
    since: described(Timestamp, "Start of the window, in UTC."),
  },
  { $id: "ValidationStats" },
);

export interface ValidationDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly checker: AddressChecker;
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
      description:
        "Checks syntax, domain and mailbox. The mailbox is checked by beginning an SMTP session with the domain's mail server, without sending a message. Costs one validation. An answer is kept for ten minutes, which a repeated call gets.",
      needs: need(validations, "write"),
      unaudited: "validations are in a log of their own",
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
      summary: "Validate the addresses of a file in the background",
      description:
        "Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; when it is completed, `GET /jobs/{job_id}/download` has the file with the results beside each address. An address that occurs twice costs once.",
      needs: need(validations, "write"),
      body: BulkForm,
      bodyLimit: FILE_BYTES,
      answer: JobStarted,
      status: 202,
      message: "The validation has started",
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE", "CONFLICT", "BAD_REQUEST"],
      handle: ({ caller: { workspaceId, actor }, body }) =>
        startBulkValidation(deps, workspaceId, body.file, readEncodingName(body.encoding), {
          actor,
          label: body.label,
        }),
    }),
    endpoint({
      id: "listValidations",
      method: "GET",
      path: "/validations/history",
      mayTakeLong: "reading",
      summary: "List validated addresses, newest first",
      description: "The addresses that were validated by either call, with their results.",
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
      summary: "Get the usage of this hour and this month",
      description:
        "How many validations of the plan and of the hourly cap are used. Beyond the plan they are paid from the balance.",
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
          // A refund counts in the next period when it comes after the end of this one.
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
      summary: "Count results by status, in total and by day",
      description: "How many addresses had which result, for a chart.",
      needs: need(validations, "read"),
      query: { days: lenientWindowField(DAYS.most, DAYS.fallback) },
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
 * The source address of the probe for the requested sending IP or routing rule; null leaves it to the operating system.
 * @throws ApiError VALIDATION_ERROR when the workspace has no such IP or rule, or it is not active
 */
async function findProbeSource(
  db: Queryable,
  workspaceId: WorkspaceId,
  requested: { readonly routing_rule_id?: string | null; readonly virtual_mta_ip?: string | null },
): Promise<string | null> {
  const virtualMtaIp = requested.virtual_mta_ip?.trim() || null;
  const routingRuleId = requested.routing_rule_id ?? null;
  const source = await findSourceAddress(db, workspaceId, { virtualMtaIp, routingRuleId });
  if (source !== "unknown") return source;
  const field = virtualMtaIp === null ? "routing_rule_id" : "virtual_mta_ip";
  const noun = virtualMtaIp === null ? "routing rule" : "sending IP";
  throw invalid({ field, message: `${field} is no active ${noun} of this workspace` });
}
