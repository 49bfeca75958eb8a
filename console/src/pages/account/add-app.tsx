/** Adding an authenticator app: its name, then the QR code and the first code of the app. */

import schema from "schema:FactorName";
import type { Schema } from "@posthaste/client";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Submit } from "../../parts/refusal.tsx";
import { QrCode } from "./qr-code.tsx";

interface Props {
  readonly onClose: () => void;
  readonly onAdded: (added: Schema<"NewSecondFactor">) => void;
}

const api = apiOf(undefined);

export function AddApp({ onClose, onAdded }: Props) {
  const begin = useAct({
    run: (name: string) => api.startAuthenticatorApp({ body: { name } }),
    changes: [],
    done: "Scan the code with the app",
  });
  const confirm = useAct({
    // The form counts down by itself.
    run: (code: string) => api.confirmAuthenticatorApp({ body: { code }, retries: 0 }),
    changes: ["factors", "session"],
    done: ({ factor }) => `${factor.name} is added`,
    onDone: onAdded,
  });
  if (!begin.data)
    return (
      <Dialog title="Add an authenticator app" isOpen onClose={onClose}>
        <ActForm act={begin} onSubmit={({ name = "" }) => begin.mutate(name)}>
          <Field
            name="name"
            label="Name"
            hint="The device that the app is on, such as “Phone”."
            maxLength={schema.properties.name?.maxLength ?? 0}
            isRequired
            autoFocus
          />
          <FormActs act={begin} onCancel={onClose}>
            Continue
          </FormActs>
        </ActForm>
      </Dialog>
    );
  return (
    <Dialog title="Add an authenticator app" isOpen onClose={onClose}>
      <ActForm act={confirm} onSubmit={({ code = "" }) => confirm.mutate(code.replaceAll(" ", ""))}>
        <p className="text-muted">Scan this with the app, or type the secret into it.</p>
        <QrCode text={begin.data.uri} label="QR code of the secret" />
        <CodeBlock label="secret" text={begin.data.secret} />
        <Field
          name="code"
          label="Code"
          hint="The six digits that the app shows now."
          inputMode="numeric"
          autoComplete="one-time-code"
          isRequired
          autoFocus
        />
        <div className="flex flex-col gap-2">
          <Submit error={confirm.error} isPending={confirm.isPending}>
            Add the app
          </Submit>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </ActForm>
    </Dialog>
  );
}
