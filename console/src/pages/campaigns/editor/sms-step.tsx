/** The text of an SMS, how many SMS it takes, and the field with the numbers. */
import type { Ref } from "react";
import { useFields } from "../../../api/fields.ts";
import { Choice } from "../../../parts/choice.tsx";
import { CodeEditor, type CodeEditorHandle } from "../../../parts/code-editor.tsx";
import { Field } from "../../../parts/field.tsx";
import type { Check } from "../findings.tsx";
import { marksOf } from "./content-step.tsx";
import { textOrNull } from "./draft.ts";
import { useMergeTags } from "./merge-tags.ts";
import { smsSizeText } from "./sms-preview.tsx";
import type { OpenDraft } from "./use-draft.ts";

interface Props {
  readonly open: OpenDraft;
  readonly check: Check | undefined;
  readonly textEditor: Ref<CodeEditorHandle>;
}

export function SmsStep({ open: { draft, edit }, check, textEditor }: Props) {
  const tags = useMergeTags(draft.mailing_list_id);
  return (
    <div className="flex h-full min-h-0 flex-col gap-3">
      <div className="grid gap-4 px-6 sm:grid-cols-2">
        <Field
          label="Subject"
          hint="For reports: an SMS does not show it."
          value={draft.subject}
          onChange={(subject) => edit({ subject })}
        />
        <NumberField
          listId={draft.mailing_list_id}
          value={draft.phone_field_name}
          onChange={(phone_field_name) => edit({ phone_field_name })}
        />
      </div>
      <div className="min-h-60 flex-1 border-y border-line">
        <CodeEditor
          ref={textEditor}
          label="Message"
          language="text"
          value={draft.text_content ?? ""}
          onChange={(text) => edit({ text_content: textOrNull(text) })}
          tags={tags}
          marks={marksOf(check, "text_content")}
        />
      </div>
      <p className="min-h-9 px-6 pb-4 text-muted">
        {check?.sms && `${smsSizeText(check.sms)}, as a sample person would get it.`}
      </p>
    </div>
  );
}

export function NumberField({
  listId,
  value,
  onChange,
}: {
  readonly listId: string | null;
  readonly value: string | null;
  readonly onChange: (name: string) => void;
}) {
  const fields = useFields(listId ?? undefined);
  const options = fields.map(({ field_name, field_label }) => ({
    id: field_name,
    name: field_label,
    description: field_name,
  }));
  const isKnown = value === null || fields.some(({ field_name }) => field_name === value);
  return (
    <div>
      <Choice
        label="Field with the number"
        name="phone_field_name"
        options={isKnown ? options : [...options, { id: value, name: value }]}
        selectedKey={value}
        onSelectionChange={(name) => onChange(String(name))}
      />
      {options.length === 0 && (
        <p className="mt-1 text-small text-muted">
          {listId === null ? "Choose the list whose field has it." : "People have no field for a number yet."}
        </p>
      )}
    </div>
  );
}
