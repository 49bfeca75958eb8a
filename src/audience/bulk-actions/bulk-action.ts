/** The body of a bulk action: whom it is for, and what it does; and its checked form, the input of the job. */
import { type Static, Type } from "typebox";
import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { listFields, listFieldsInForce } from "#audience/custom-fields/store.ts";
import { workspaceDates } from "#audience/custom-fields/workspace-date-reader.ts";
import { requireKnownList } from "#audience/mailing-lists/store.ts";
import type { PeopleSelection } from "#audience/subscribers/filtered-people-store.ts";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { criteriaWords, readPersonFilter } from "#audience/subscribers/person-filter.ts";
import { findSuppressionList } from "#audience/suppression-lists/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { JobLabel } from "#platform/jobs/start-or-cancel-job.ts";
import { Timestamp } from "#platform/shapes.ts";

/** Ids in one call. */
const MOST_IDS = 10_000;

const actions = ["add_to_list", "remove_from_list", "set_status", "set_field", "suppress", "delete"] as const;
type ActionName = (typeof actions)[number];

const moment = (description: string) => Type.Optional(Type.Unsafe<string>({ ...Timestamp, description }));
const uuid = (description: string) => Type.Optional(Type.String({ format: "uuid", description }));
const ids = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ format: "uuid" }), { minItems: 1, maxItems: MOST_IDS, description }),
  );

const Filter = Type.Object(
  {
    status: Type.Optional(
      Type.Enum([...subscriberStatuses], {
        description: "Only those in this state; with list_id, on that list.",
      }),
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "As in GET /subscribers, without its limit of 2,000.",
      }),
    ),
    list_id: uuid("Only those on this mailing list."),
    joined_from: moment(criteriaWords.joined_from),
    joined_to: moment(criteriaWords.joined_to),
    opened_since: moment(criteriaWords.opened_since),
    never_opened: Type.Optional(Type.Boolean({ description: criteriaWords.never_opened })),
    clicked_since: moment(criteriaWords.clicked_since),
    never_clicked: Type.Optional(Type.Boolean({ description: criteriaWords.never_clicked })),
    field: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: criteriaWords.field })),
    field_value: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: criteriaWords.field_value }),
    ),
  },
  {
    $id: "SubscriberFilter",
    description: "The filters of GET /subscribers. An empty object means all people of the workspace.",
  },
);

export const BulkAction = Type.Object(
  {
    action: Type.Enum([...actions], {
      description:
        "`add_to_list` and `remove_from_list` need mailing_list_id, `set_status` needs status, `set_field` needs field and value, `suppress` needs suppression_list_id. `delete` removes people from all lists.",
    }),
    mailing_list_id: uuid(
      "The list to add to or remove from. For `set_status` and `set_field`: change only people on this list; every list when omitted.",
    ),
    status: Type.Optional(
      Type.Enum([...subscriberStatuses], {
        description:
          "For `set_status`. Bounced and complained apply to every list, and suppress the address.",
      }),
    ),
    field: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "For `set_field`: field_name of a custom field.",
      }),
    ),
    value: Type.Optional(
      Type.Unknown({ description: "For `set_field`: a value of the field's type; null removes the value." }),
    ),
    suppression_list_id: uuid("For `suppress`: the suppression list that gets the addresses."),
    filter: Type.Optional(Filter),
    ids: ids(`Ids of people, 1 to ${MOST_IDS}, in place of a filter.`),
    except_ids: ids(`People whom the filter finds and who are left out, at most ${MOST_IDS}.`),
    dry_run: Type.Optional(
      Type.Boolean({
        description: "Whether to count only: the job reports what it would do, and changes nothing.",
      }),
    ),
    label: JobLabel,
  },
  { $id: "SubscriberBulkAction" },
);
type BulkAction = Static<typeof BulkAction>;

/** The checked form of an action. */
export type PeopleAction =
  | { readonly type: "add_to_list"; readonly mailing_list_id: string }
  | { readonly type: "remove_from_list"; readonly mailing_list_id: string }
  | {
      readonly type: "set_status";
      readonly mailing_list_id: string | null;
      readonly status: SubscriberStatus;
    }
  | {
      readonly type: "set_field";
      readonly mailing_list_id: string | null;
      readonly field: string;
      readonly value: unknown;
    }
  | { readonly type: "suppress"; readonly suppression_list_id: string }
  | { readonly type: "delete" };

export interface BulkActionInput {
  readonly action: PeopleAction;
  /** Null: `ids` are given. */
  readonly selection: PeopleSelection | null;
  readonly ids: readonly string[] | null;
  readonly except_ids: readonly string[];
  readonly dry_run: boolean;
  /** Name of the API key or person who started it. */
  readonly started_by: string;
}

/** Parameters of each action; the required ones first. */
const parameters: Readonly<
  Record<
    ActionName,
    { readonly needs: readonly (keyof BulkAction)[]; readonly takes?: readonly (keyof BulkAction)[] }
  >
> = {
  add_to_list: { needs: ["mailing_list_id"] },
  remove_from_list: { needs: ["mailing_list_id"] },
  set_status: { needs: ["status"], takes: ["mailing_list_id"] },
  set_field: { needs: ["field", "value"], takes: ["mailing_list_id"] },
  suppress: { needs: ["suppression_list_id"] },
  delete: { needs: [] },
};
const anyParameter = ["mailing_list_id", "status", "field", "value", "suppression_list_id"] as const;

/** @throws ApiError VALIDATION_ERROR that names each field that is missing, out of place or unknown */
export async function readBulkAction(
  db: Queryable,
  workspaceId: WorkspaceId,
  body: BulkAction,
  startedBy: string,
): Promise<BulkActionInput> {
  refuse(parameterFaults(body));
  refuse(selectionFaults(body));
  return {
    action: await readAction(db, workspaceId, body),
    selection: body.filter === undefined ? null : await readSelection(db, workspaceId, body.filter),
    ids: body.ids === undefined ? null : [...new Set(body.ids)],
    except_ids: body.except_ids ?? [],
    dry_run: body.dry_run ?? false,
    started_by: startedBy,
  };
}

function refuse([first, ...rest]: readonly FieldFault[]): void {
  if (first !== undefined) throw invalid(first, ...rest);
}

function parameterFaults(body: BulkAction): FieldFault[] {
  const { needs, takes = [] } = parameters[body.action];
  const missing = needs.filter((name) => body[name] === undefined);
  const stray = anyParameter.filter(
    (name) => body[name] !== undefined && ![...needs, ...takes].includes(name),
  );
  return [
    ...missing.map((field) => ({ field, message: `${field} is required by the action ${body.action}` })),
    ...stray.map((field) => ({ field, message: `${field} does not belong to the action ${body.action}` })),
  ];
}

function selectionFaults({ filter, ids, except_ids }: BulkAction): FieldFault[] {
  if ((filter === undefined) === (ids === undefined)) {
    return [
      { field: "filter", message: "filter or ids is required, and not both: {} is a filter for all people" },
    ];
  }
  if (ids !== undefined && except_ids !== undefined) {
    return [
      { field: "except_ids", message: "except_ids belongs to a filter: leave these people out of ids" },
    ];
  }
  return [];
}

async function readSelection(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Static<typeof Filter>,
): Promise<PeopleSelection> {
  const {
    list_id = null,
    status,
    search,
    joined_from,
    joined_to,
    opened_since,
    clicked_since,
    ...others
  } = filter;
  if (list_id !== null) await requireKnownList(db, workspaceId, list_id);
  const at = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  const moments = {
    joined_from: at(joined_from),
    joined_to: at(joined_to),
    opened_since: at(opened_since),
    clicked_since: at(clicked_since),
  };
  const criteria = await readPersonFilter(db, workspaceId, { ...others, ...moments });
  return { mailingListId: list_id, status, search: search?.trim() || undefined, filter: criteria };
}

async function readAction(db: Queryable, workspaceId: WorkspaceId, body: BulkAction): Promise<PeopleAction> {
  const { action: type, mailing_list_id = null, status, field, suppression_list_id } = body;
  if (mailing_list_id !== null) {
    await requireKnownList(db, workspaceId, mailing_list_id).catch(() => {
      throw unknownId("mailing_list_id", "mailing list");
    });
  }
  if (type === "suppress" && suppression_list_id !== undefined) {
    const known = await findSuppressionList(db, workspaceId, suppression_list_id);
    if (known === undefined) throw unknownId("suppression_list_id", "suppression list");
    return { type, suppression_list_id };
  }
  if (type === "set_status" && status !== undefined) return { type, mailing_list_id, status };
  if (type === "set_field" && field !== undefined) {
    const value = await readValue(db, workspaceId, mailing_list_id, field, body.value);
    return { type, mailing_list_id, field, value };
  }
  if ((type === "add_to_list" || type === "remove_from_list") && mailing_list_id !== null) {
    return { type, mailing_list_id };
  }
  return { type: "delete" };
}

const unknownId = (field: string, what: string) =>
  invalid({ field, message: `${field} is no ${what} of this workspace` });

/** The value as it is stored; null to remove it. */
async function readValue(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
  field: string,
  given: unknown,
): Promise<unknown> {
  const fields =
    mailingListId === null
      ? (await listFields(db, workspaceId, null)).filter(({ is_active }) => is_active)
      : await listFieldsInForce(db, workspaceId, mailingListId);
  const definition = fields.find(({ field_name }) => field_name === field);
  if (definition === undefined) {
    const where =
      mailingListId === null
        ? "global custom field: name the list of a list's own field"
        : "custom field of this list";
    throw invalid({ field: "field", message: `field is no ${where}` });
  }
  const isNothing = given === null || given === "";
  const reading = isNothing
    ? ({ ok: true, value: null } as const)
    : fieldReader(definition, await workspaceDates(db, workspaceId, fields))(given);
  if (!reading.ok) throw invalid({ field: "value", message: `value ${reading.message}` });
  if (reading.value === null && definition.is_required) {
    throw invalid({ field: "value", message: "value is required: the field may not be empty" });
  }
  return reading.value;
}
