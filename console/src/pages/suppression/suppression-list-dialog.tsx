/** A new suppression list, or the settings of one: its name, what mail it keeps away, whether it works. */
import body from "schema:NewSuppressionList";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { useLists } from "../../api/lists.ts";
import { useAllSegments } from "../../api/segments.ts";
import { usePlace } from "../../api/session.tsx";
import type { SuppressionList } from "../../api/suppression.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Switch } from "../../parts/toggle.tsx";
import { scopeText } from "./finding.tsx";

type Scope = SuppressionList["suppression_scope"];

interface Props {
  /** Undefined: a new one. */
  readonly list?: SuppressionList;
  readonly onClose: () => void;
  readonly onSaved: (list: { readonly id: string }) => void;
}

const scopes = (body.properties.suppression_scope?.enum ?? []) as readonly Scope[];

export function SuppressionListDialog({ list, onClose, onSaved }: Props) {
  const { api } = usePlace();
  const [scope, setScope] = useState<Scope>(list?.suppression_scope ?? "global");
  const [target, setTarget] = useState(list?.mailing_list_id ?? list?.segment_id ?? undefined);
  const [isActive, setActive] = useState(list?.is_active ?? true);
  const save = useAct({
    run: (texts: { readonly name: string; readonly description: string }) => {
      const input = {
        ...texts,
        suppression_scope: scope,
        mailing_list_id: scope === "mailing_list" ? (target ?? null) : null,
        segment_id: scope === "segment" ? (target ?? null) : null,
        is_active: isActive,
      };
      return list
        ? api.updateSuppressionList({ id: list.id, body: input })
        : api.createSuppressionList({ body: input });
    },
    changes: ["suppression-lists", "suppression-list", "findings"],
    done: ({ name }) => `${name} is saved`,
    onDone: onSaved,
  });
  return (
    <Dialog title={list ? `Settings of ${list.name}` : "New suppression list"} isOpen onClose={onClose}>
      <ActForm act={save} onSubmit={({ name = "", description = "" }) => save.mutate({ name, description })}>
        <Field
          name="name"
          label="Name"
          defaultValue={list?.name ?? ""}
          maxLength={body.properties.name?.maxLength ?? 0}
          isRequired
          autoFocus
        />
        <Field name="description" label="What it is for" defaultValue={list?.description ?? ""} />
        <Choice
          label="It keeps away"
          options={scopes.map((id) => ({ id, name: scopeText({ suppression_scope: id }) }))}
          value={scope}
          onChange={(id) => {
            setScope(id as Scope);
            setTarget(undefined);
          }}
        />
        {scope === "mailing_list" && <WhichList value={target} onChange={setTarget} />}
        {scope === "segment" && <WhichSegment value={target} onChange={setTarget} />}
        <Switch isSelected={isActive} onChange={setActive}>
          Active: an inactive list suppresses nothing
        </Switch>
        <FormActs act={save} onCancel={onClose}>
          {list ? "Save" : "Create"}
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

interface TargetProps {
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}

function WhichList({ value, onChange }: TargetProps) {
  return (
    <Choice
      name="mailing_list_id"
      label="Mailing list"
      options={useLists() ?? []}
      value={value ?? null}
      onChange={(id) => onChange(String(id))}
      isRequired
    />
  );
}

function WhichSegment({ value, onChange }: TargetProps) {
  const { data = [] } = useAllSegments();
  return (
    <Choice
      name="segment_id"
      label="Segment"
      options={data.map(({ id, name, mailing_list_name }) => ({
        id,
        name,
        description: `of ${mailing_list_name}`,
      }))}
      value={value ?? null}
      onChange={(id) => onChange(String(id))}
      isRequired
    />
  );
}
