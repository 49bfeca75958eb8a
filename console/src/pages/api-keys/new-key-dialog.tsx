/** A new key: its name, what it may do, until when; then its secret, once. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Checkbox, CheckboxGroup, Form, Label } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";

export function NewKeyDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}) {
  const { api, workspace } = usePlace();
  const [chosen, setChosen] = useState<string[]>(["emails:send"]);
  const { data: catalogue } = useQuery({
    queryKey: ["permissions", workspace.id],
    queryFn: ({ signal }) => api.listPermissions({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const make = useAct({
    run: (name: string) => api.createApiKey({ body: { name, permissions: chosen } as never }),
    changes: ["api-keys"],
    done: "The key is made",
    onDone: ({ key }) => onMade(key),
  });
  return (
    <Dialog title="New API key" isOpen onClose={onClose} isWide>
      <Form
        validationErrors={fieldErrors(make.error)}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate(String(new FormData(event.currentTarget).get("name")));
        }}
        className="flex flex-col gap-5"
      >
        <Field
          name="name"
          label="Name"
          hint="The program that uses it, such as “Web shop”."
          isRequired
          autoFocus
        />
        <CheckboxGroup value={chosen} onChange={setChosen}>
          <Label className="font-medium">It may</Label>
          <div className="mt-2 grid max-h-80 gap-x-8 overflow-auto rounded-control border border-line p-3 sm:grid-cols-2">
            {catalogue?.wildcards.map(({ value, label }) => (
              <Permission key={value} value={value} label={label} />
            ))}
            {catalogue?.resources.map(({ resource, label, actions }) => (
              <div key={resource} className="flex items-center gap-3 border-t border-line/60 py-1">
                <span className="flex-1 truncate">{label}</span>
                {actions.map(({ value, label: action }) => (
                  <Permission key={value} value={value} label={action} of={label} />
                ))}
              </div>
            ))}
          </div>
        </CheckboxGroup>
        {make.error && <Failure error={make.error} />}
        <div className="flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={make.isPending}>
            Make the key
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Permission({
  value,
  label,
  of,
}: {
  readonly value: string;
  readonly label: string;
  readonly of?: string;
}) {
  return (
    <Checkbox
      value={value}
      aria-label={of ? `${of}: ${label}` : label}
      className="group flex h-7 items-center gap-1.5"
    >
      <span
        aria-hidden
        className="grid h-4 w-4 place-items-center rounded border border-control text-[11px] text-on-accent group-data-[selected]:border-accent group-data-[selected]:bg-accent group-data-[selected]:before:content-['✓']"
      />
      {label}
    </Checkbox>
  );
}

export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title="Your new key" isOpen onClose={onClose}>
      <p className="text-muted">
        This is the only time it is shown. Keep it where the program reads its secrets.
      </p>
      <p className="my-4 rounded-control bg-sunken px-3 py-2">
        <Copyable text={secret} label="key" />
      </p>
      <div className="flex justify-end">
        <Button kind="primary" onPress={onClose}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}
