/** A new campaign: what a draft needs to exist. Everything can be changed in the editor. */
import schema from "schema:NewCampaign";
import type { Body } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { useDomains, useVerifiedSenders } from "../../api/domains.ts";
import { useLists } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { LongField } from "../../parts/long-field.tsx";
import { Picker } from "../../parts/picker.tsx";
import { Segmented } from "../../parts/segmented.tsx";
import { SenderField, SenderReadiness } from "./editor/from-step.tsx";
import { NumberField } from "./editor/sms-step.tsx";

type Kind = NonNullable<Body<"createCampaign">["message_type"]>;
export type Start = "empty" | "html";

const kindNames: Readonly<Record<Kind, string>> = { email: "Email", sms: "SMS" };

interface Props {
  readonly start: Start;
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}

export function NewCampaignDialog({ start, onClose, onMade }: Props) {
  const { api } = usePlace();
  const lists = useLists();
  const senders = useVerifiedSenders().data;
  const domains = useDomains().data;
  const [kind, setKind] = useState<Kind>("email");
  const [listId, setListId] = useState<string>();
  const [from, setFrom] = useState<string>();
  const [phone, setPhone] = useState<string | null>(null);
  const list = lists?.find(({ id }) => id === listId);
  const firstSender = senders?.find(({ is_verified }) => is_verified)?.email;
  const firstDomain = domains?.find(({ is_verified, is_active }) => is_verified && is_active)?.domain;
  const offered = list?.from_email ?? firstSender ?? (firstDomain ? `hello@${firstDomain}` : "");
  const email = from ?? offered;
  const make = useAct({
    run: (body: Body<"createCampaign">) => api.createCampaign({ body }),
    changes: ["campaigns"],
    done: ({ name }) => `${name} is a new draft`,
    onDone: ({ id }) => onMade(id),
  });
  // A choice ends a refusal as typing does.
  const changing =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      if (make.isError) make.reset();
      set(value);
    };
  const limits = schema.properties;
  return (
    <Dialog title="New campaign" isOpen onClose={onClose} isWide>
      <ActForm
        act={make}
        onSubmit={({ name = "", subject = "", html_content }) => {
          make.mutate({
            name,
            subject,
            from_email: email,
            message_type: kind,
            ...(listId && { mailing_list_id: listId }),
            ...(kind === "sms" && { phone_field_name: phone }),
            ...(html_content && { html_content }),
          });
        }}
      >
        {start === "empty" && (
          <Segmented
            label="Kind"
            value={kind}
            onChange={changing(setKind)}
            segments={(Object.keys(kindNames) as Kind[]).map((id) => ({ id, name: kindNames[id] }))}
          />
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            name="name"
            label="Name"
            hint="Only you see it."
            {...limitOf(limits.name)}
            isRequired
            autoFocus
          />
          <Field name="subject" label="Subject" {...limitOf(limits.subject)} isRequired />
          <div>
            <SenderField
              label="From"
              name="from_email"
              value={email}
              onChange={changing(setFrom)}
              listAddress={list?.from_email ?? null}
            />
            {kind === "email" && <SenderReadiness email={email} />}
          </div>
          <Picker
            label="List"
            name="mailing_list_id"
            placeholder="Later"
            value={listId ?? null}
            onChange={changing(setListId)}
            options={(lists ?? []).map(({ id, name }) => ({ id, name }))}
          />
          {kind === "sms" && (
            <NumberField listId={listId ?? null} value={phone} onChange={changing(setPhone)} />
          )}
        </div>
        {start === "html" && (
          <LongField
            name="html_content"
            label="HTML"
            rows={10}
            isMono
            {...limitOf(limits.html_content)}
            isRequired
          />
        )}
        <FormActs act={make} onCancel={onClose}>
          Create the draft
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

function limitOf(property: { readonly maxLength?: number } | undefined) {
  return property?.maxLength === undefined ? {} : { maxLength: property.maxLength };
}
