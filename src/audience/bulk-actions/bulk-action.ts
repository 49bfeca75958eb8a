/** The body of a bulk action: whom it is for, and what it does; and its checked form, the input of the job. */
import { type Static, Type } from "typebox";
import { requireKnownList } from "#audience/mailing-lists/store.ts";
import { criteriaInBody, criteriaOf } from "#audience/subscribers/criteria-in-body.ts";
import type { PeopleSelection } from "#audience/subscribers/filtered-people-store.ts";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { readPersonFilter } from "#audience/subscribers/person-filter.ts";
import { findSuppressionList } from "#audience/suppression-lists/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { JobLabel } from "#platform/jobs/start-or-cancel-job.ts";
import { readNewValue } from "./field-value.ts";

/** Ids in one call. */
const MOST_IDS = 10_000;

export const actions = [
  "add_to_list",
  "remove_from_list",
  "set_status",
  "set_field",
  "suppress",
  "delete",
] as const;
type ActionName = (typeof actions)[number];

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
        description: "As in GET /subscribers, without its limit of 2,000. Not blank.",
      }),
    ),
    list_id: uuid("Only those on this mailing list."),
    ...criteriaInBody,
  },
  {
    $id: "SubscriberFilter",
    description: "The filters of GET /subscribers. An empty object means all people of the workspace.",
    // A misspelt filter would be ignored, and more people be changed than were meant.
    additionalProperties: false,
  },
);

export const BulkAction = Type.Object(
  {
    action: Type.Enum([...actions], {
      description:
        "`add_to_list` and `remove_from_list` need mailing_list_id, `set_status` needs status, `set_field` needs field and value, `suppress` needs suppression_list_id. `delete` removes people from all lists. For `delete` and `remove_from_list`, which cannot be undone, a person must have confirmed who they are within ten minutes unless it is a dry run; API keys need not.",
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

/** Whether the action may delete people, which cannot be undone: a person on no other list is deleted, too. */
export function mayDeletePeople({ action, dry_run = false }: BulkAction): boolean {
  return !dry_run && (action === "delete" || action === "remove_from_list");
}

/** @throws ApiError VALIDATION_ERROR that names each field that is missing, out of place or unknown */
export async function readBulkAction(
  db: Queryable,
  workspaceId: WorkspaceId,
  body: BulkAction,
  startedBy: string,
): Promise<BulkActionInput> {
  refuse(parameterFaults(body));
  refuse(selectionFaults(body));
  refuse(blankFaults(body.filter ?? {}));
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

/** A blank text is no filter: it would select all people. */
function blankFaults(filter: Static<typeof Filter>): FieldFault[] {
  return (["search", "field", "field_value"] as const)
    .filter((name) => filter[name]?.trim() === "")
    .map((name) => {
      const field = `filter.${name}`;
      return { field, message: `${field} is blank: leave it out, or give the text that people must have` };
    });
}

async function readSelection(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Static<typeof Filter>,
): Promise<PeopleSelection> {
  const { list_id = null, status, search } = filter;
  if (list_id !== null) await requireKnownList(db, workspaceId, list_id, "filter.list_id");
  const criteria = await readPersonFilter(db, workspaceId, criteriaOf(filter, "filter."), "filter.");
  return { mailingListId: list_id, status, search: search?.trim(), filter: criteria };
}

async function readAction(db: Queryable, workspaceId: WorkspaceId, body: BulkAction): Promise<PeopleAction> {
  const { action: type, mailing_list_id = null } = body;
  if (mailing_list_id !== null) {
    await requireKnownList(db, workspaceId, mailing_list_id, "mailing_list_id");
  }
  switch (type) {
    case "add_to_list":
    case "remove_from_list":
      return { type, mailing_list_id: given(mailing_list_id) };
    case "set_status":
      return { type, mailing_list_id, status: given(body.status) };
    case "set_field": {
      const field = given(body.field);
      const place = { mailingListId: mailing_list_id, field };
      return { type, mailing_list_id, field, value: await readNewValue(db, workspaceId, place, body.value) };
    }
    case "suppress": {
      const id = given(body.suppression_list_id);
      const known = await findSuppressionList(db, workspaceId, id);
      if (known === undefined) {
        const message = "suppression_list_id is no suppression list of this workspace";
        throw invalid({ field: "suppression_list_id", message });
      }
      return { type, suppression_list_id: id };
    }
    case "delete":
      return { type };
  }
}

/** A parameter that parameterFaults has found. */
function given<Value>(value: Value | null | undefined): Value {
  if (value == null) throw new Error("a parameter of the action was not checked");
  return value;
}
