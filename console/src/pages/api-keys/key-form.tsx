/** A key as it is asked for: its name, what it may do (purpose first), and until when. */

import schema from "schema:NewApiKey";
import type { Body } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import contract from "operation-permissions";
import { type ComponentProps, useState } from "react";
import { holds, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Field } from "../../parts/field.tsx";
import { PermissionTree } from "../../parts/permission-tree.tsx";
import { type Catalogue, catalogueQuery } from "../../parts/permissions.ts";
import { RadioCards } from "../../parts/radio-cards.tsx";
import { Expiry } from "./expiry.tsx";

export type Wanted = Body<"createApiKey">;

const OWN = "own";

interface Props {
  readonly given?: Wanted;
  readonly act: string;
  readonly save: ComponentProps<typeof ActForm>["act"];
  readonly onSubmit: (wanted: Wanted) => void;
  readonly onCancel: () => void;
}

export function KeyForm({ given, act, save, onSubmit, onCancel }: Props) {
  const place = usePlace();
  const { data: catalogue } = useQuery(catalogueQuery(place));
  const [name, setName] = useState(given?.name ?? "");
  const [purpose, setPurpose] = useState(given ? OWN : "send");
  const [chosen, setChosen] = useState<readonly string[]>(given?.permissions ?? []);
  const [expiresAt, setExpiresAt] = useState(given?.expires_at ?? null);
  const [isAsked, setAsked] = useState(false);
  const purposes = purposesOf(catalogue, place.workspace.permissions);
  const values = purposes.find(({ id }) => id === purpose)?.values ?? chosen;
  return (
    <ActForm
      act={save}
      onSubmit={() => {
        setAsked(true);
        if (values.length > 0) onSubmit({ name, permissions: [...values], expires_at: expiresAt });
      }}
      className="flex flex-col gap-5"
    >
      <Field
        name="name"
        label="Name"
        hint="The program that uses it, such as “Web shop”."
        maxLength={schema.properties.name?.maxLength ?? 0}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
      />
      <RadioCards
        label="It may"
        value={purpose}
        onChange={(id) => {
          // Goes on from what was chosen before.
          if (id === OWN && chosen.length === 0) setChosen(values);
          setPurpose(id);
        }}
        options={[
          ...purposes,
          { id: OWN, name: "Chosen permissions", description: "Only what you choose here." },
        ]}
      />
      {purpose === OWN && <PermissionTree label="Permissions" chosen={chosen} onChange={setChosen} />}
      {isAsked && values.length === 0 && (
        <p role="alert" className="text-small text-bad">
          Choose at least one permission.
        </p>
      )}
      <Expiry value={expiresAt} onChange={setExpiresAt} />
      <FormActs act={save} onCancel={onCancel}>
        {act}
      </FormActs>
    </ActForm>
  );
}

/** Sets of permissions that the person can give. */
function purposesOf(catalogue: Catalogue | undefined, held: readonly string[]) {
  const send = { id: "send", name: "Send mail", values: [contract.sendEmail ?? ""] };
  const presets = (catalogue?.presets ?? []).map(({ preset, label, values }) => ({
    id: preset,
    name: label,
    values,
  }));
  const labels = catalogue?.wildcards ?? [];
  return [send, ...presets]
    .filter(({ values }) => values.every((one) => holds(held, one)))
    .map((one) => ({ ...one, description: descriptionOf(one.values, labels) }));
}

function descriptionOf(values: readonly string[], wildcards: Catalogue["wildcards"]): string {
  const wide = wildcards.find(({ value }) => value === values[0]);
  return wide?.label ?? "Transactional mail, by the API and by SMTP.";
}
