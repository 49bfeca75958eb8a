/** The custom fields that people of a list have: its own, and those of every list. */
import type { Schema } from "@posthaste/client";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { type CustomField, fieldChanges, useGlobalFields, useListFields } from "../../api/fields.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Panel } from "../../parts/page.tsx";
import { FieldDialog } from "./field-dialog.tsx";
import { UsersBeforeDeletion, usesText } from "./used-by.tsx";

type FieldInUse = Schema<"CustomFieldInUse">;

/** What is open: a new field of the list or of every list, or a known one to edit or delete. */
type Opened =
  | { readonly kind: "new"; readonly listId: string | undefined }
  | { readonly kind: "edit" | "delete"; readonly field: FieldInUse };

export function ListFields({ listId }: { readonly listId: string }) {
  const own = useListFields(listId);
  const global = useGlobalFields();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const ownNames = new Set(own.data?.map(({ field_name }) => field_name));
  return (
    <div className="-mt-4 [&>section:first-child]:border-t-0">
      <FieldsPanel
        title="Of this list"
        answer={own}
        empty="This list has no field of its own. Fields hold what you know of people beside their names, such as a city or a plan."
        onNew={() => setOpened({ kind: "new", listId })}
        onOpen={setOpened}
      />
      <FieldsPanel
        title="Of every list"
        answer={global}
        empty="No field is shared by all lists. Use them for what belongs to a person whatever the list, such as a customer number."
        hidden={ownNames}
        onNew={() => setOpened({ kind: "new", listId: undefined })}
        onOpen={setOpened}
      />
      {opened?.kind === "new" && <FieldDialog listId={opened.listId} onClose={close} />}
      {opened?.kind === "edit" && (
        <FieldDialog
          field={opened.field}
          listId={opened.field.mailing_list_id ?? undefined}
          onClose={close}
        />
      )}
      {opened?.kind === "delete" && <DeleteField field={opened.field} onClose={close} />}
    </div>
  );
}

function FieldsPanel({
  title,
  answer: { data, error, refetch },
  empty,
  hidden,
  onNew,
  onOpen,
}: {
  readonly title: string;
  readonly answer: ReturnType<typeof useListFields>;
  readonly empty: string;
  /** Names that fields of the list hide. */
  readonly hidden?: ReadonlySet<string>;
  readonly onNew: () => void;
  readonly onOpen: (opened: Opened) => void;
}) {
  const { workspace } = usePlace();
  const mayWrite = mayCall(workspace, "createCustomField");
  return (
    <Panel
      title={title}
      acts={
        mayWrite && (
          <Button onPress={onNew}>
            <Plus size={15} aria-hidden /> New field
          </Button>
        )
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p className="max-w-xl text-muted">{empty}</p>}
      <ul className={data ? "" : "min-h-20"}>
        {data?.map((field) => (
          <li
            key={field.id}
            className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-0.5 border-b border-line/60 py-1.5 last:border-transparent"
          >
            <span className="min-w-0 flex-1 basis-40 truncate">
              <span className="font-medium">{field.field_label}</span>{" "}
              <code className="ml-1 font-mono text-small text-muted">{`{{ ${field.field_name} }}`}</code>
            </span>
            <span className="text-muted">
              {rulesOf(field)}
              {field.used_by.total > 0 && `, used in ${usesText(field.used_by)}`}
            </span>
            {hidden?.has(field.field_name) && (
              <span className="text-warning">Hidden here by the list’s own field of this name</span>
            )}
            {mayWrite && (
              <ActMenu
                label={`More about ${field.field_label}`}
                acts={[
                  { name: "Edit", run: () => onOpen({ kind: "edit", field }) },
                  { name: "Delete", run: () => onOpen({ kind: "delete", field }), isDanger: true },
                ]}
              />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function rulesOf({ field_type, is_required, is_active }: CustomField): string {
  return [field_type, is_required && "required", !is_active && "inactive"].filter(Boolean).join(", ");
}

function DeleteField({ field, onClose }: { readonly field: FieldInUse; readonly onClose: () => void }) {
  const { api } = usePlace();
  const { id: field_id, field_label, mailing_list_id } = field;
  const remove = useAct({
    run: () =>
      mailing_list_id === null
        ? api.deleteGlobalCustomField({ field_id })
        : api.deleteCustomField({ id: mailing_list_id, field_id }),
    changes: fieldChanges,
    done: `${field_label} is deleted`,
    onDone: onClose,
  });
  return (
    <Question
      title={`Delete the field ${field_label}?`}
      isOpen
      onClose={onClose}
      act="Delete the field"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      <p>
        It is no longer asked for. The values that people have stay stored, and come back with a field of this
        name.
      </p>
      <UsersBeforeDeletion usedBy={field.used_by} />
    </Question>
  );
}
