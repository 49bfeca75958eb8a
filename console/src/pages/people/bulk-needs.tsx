/** What an act on many people needs beside the people: a list, a state, a field with its value, a suppression list. */
import body from "schema:SubscriberBulkAction";
import { useQuery } from "@tanstack/react-query";
import { useFields } from "../../api/fields.ts";
import { useLists } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { suppressionListsQuery } from "../../api/suppression.ts";
import { Choice } from "../../parts/choice.tsx";
import type { BulkAction, BulkBody } from "./bulk-acts.tsx";
import { FieldInput } from "./field-input.tsx";

type Needs = Partial<BulkBody>;

interface Props {
  readonly action: BulkAction;
  /** The list that all chosen people are on, if the filter says so. */
  readonly listId: string | undefined;
  readonly needs: Needs;
  readonly onChange: (needs: Needs) => void;
}

/** The parameters that each action asks for. */
const needed: Readonly<Record<BulkAction, readonly (keyof BulkBody)[]>> = {
  add_to_list: ["mailing_list_id"],
  remove_from_list: ["mailing_list_id"],
  set_status: ["status"],
  set_field: ["field"],
  suppress: ["suppression_list_id"],
  delete: [],
};

/** A state is that on the list whose people are shown, unless another is chosen. */
export function firstNeeds(action: BulkAction, listId: string | undefined): Needs {
  return action === "set_status" && listId !== undefined ? { mailing_list_id: listId } : {};
}

export function isComplete(action: BulkAction, needs: Needs): boolean {
  return needed[action].every((name) => needs[name] !== undefined);
}

export function BulkNeeds(props: Props) {
  switch (props.action) {
    case "add_to_list":
    case "remove_from_list":
      return <WhichList {...props} />;
    case "set_status":
      return <WhichState {...props} />;
    case "set_field":
      return <WhichField {...props} />;
    case "suppress":
      return <WhichSuppressionList {...props} />;
    case "delete":
      return (
        <p className="text-muted">The people are deleted from all lists, with their fields and history.</p>
      );
  }
}

function WhichList({ action, needs, onChange }: Props) {
  return (
    <>
      <Choice
        label="List"
        options={useLists() ?? []}
        value={needs.mailing_list_id ?? null}
        onChange={(id) => onChange({ mailing_list_id: String(id) })}
      />
      {action === "remove_from_list" && (
        <p className="text-muted">
          People on no other list are deleted. To remember that people want no mail, change the state instead.
        </p>
      )}
    </>
  );
}

function WhichState({ needs, onChange }: Props) {
  const lists = useLists() ?? [];
  const everywhere = { id: "", name: "Every list they are on" };
  return (
    <>
      <Choice
        label="New state"
        options={(body.properties.status?.enum ?? []).map((id) => ({ id, name: id }))}
        value={needs.status ?? null}
        onChange={(status) => onChange({ ...needs, status: status as NonNullable<BulkBody["status"]> })}
      />
      <Choice
        label="On"
        options={[everywhere, ...lists]}
        value={needs.mailing_list_id ?? everywhere.id}
        onChange={(id) => {
          const { mailing_list_id: _former, ...rest } = needs;
          onChange(id === everywhere.id ? rest : { ...rest, mailing_list_id: String(id) });
        }}
      />
      {(needs.status === "bounced" || needs.status === "complained") && (
        <p className="text-muted">This holds for every list, and suppresses the addresses.</p>
      )}
    </>
  );
}

function WhichField({ listId, needs, onChange }: Props) {
  const fields = useFields(listId);
  const field = fields.find(({ field_name }) => field_name === needs.field);
  const on = field?.mailing_list_id ?? undefined;
  const keep = (value: unknown) => ({ ...needs, ...(on !== undefined && { mailing_list_id: on }), value });
  if (fields.length === 0)
    return <p className="text-muted">There is no field yet. Fields are made on a list.</p>;
  return (
    <>
      <Choice
        label="Field"
        options={fields.map(({ field_name, field_label }) => ({
          id: field_name,
          name: field_label,
          description: field_name,
        }))}
        value={needs.field ?? null}
        onChange={(name) => {
          const chosen = fields.find(({ field_name }) => field_name === name);
          const own = chosen?.mailing_list_id;
          onChange({ field: String(name), value: null, ...(own && { mailing_list_id: own }) });
        }}
      />
      {field && <FieldInput field={field} value={needs.value} onChange={(value) => onChange(keep(value))} />}
      {field && (needs.value === null || needs.value === undefined) && (
        <p className="text-muted">Without a value, the values that people have are removed.</p>
      )}
    </>
  );
}

function WhichSuppressionList({ needs, onChange }: Props) {
  const { data } = useQuery(suppressionListsQuery(usePlace()));
  return (
    <Choice
      label="Suppression list"
      options={(data ?? []).filter(({ is_system }) => !is_system)}
      value={needs.suppression_list_id ?? null}
      onChange={(id) => onChange({ suppression_list_id: String(id) })}
    />
  );
}
