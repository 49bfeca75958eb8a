/** Adding a passkey: its name, then the browser asks. */

import schema from "schema:NewPasskey";
import type { Schema } from "@posthaste/client";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { makePasskey } from "../../parts/passkey.ts";

interface Props {
  readonly onClose: () => void;
  readonly onAdded: (added: Schema<"NewSecondFactor">) => void;
}

const api = apiOf(undefined);

export function AddPasskey({ onClose, onAdded }: Props) {
  const add = useAct({
    run: async (name: string) => {
      const { challenge, passkey_options } = await api.startPasskey();
      return api.addPasskey({ body: { challenge, name, passkey: await makePasskey(passkey_options) } });
    },
    changes: ["factors", "session"],
    done: ({ factor }) => `${factor.name} is added`,
    onDone: onAdded,
  });
  return (
    <Dialog title="Add a passkey" isOpen onClose={onClose}>
      <ActForm act={add} onSubmit={({ name = "" }) => add.mutate(name)}>
        <Field
          name="name"
          label="Name"
          hint="Where it is kept, such as “Laptop” or the name of your password manager."
          maxLength={schema.properties.name?.maxLength ?? 0}
          isRequired
          autoFocus
        />
        <FormActs act={add} onCancel={onClose}>
          Continue
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
