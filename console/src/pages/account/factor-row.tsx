/** One second factor: its name, its use, renaming and removing. */

import schema from "schema:FactorName";
import type { Schema } from "@posthaste/client";
import { KeyRound, Smartphone } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Time } from "../../parts/time.tsx";

type Factor = Schema<"SecondFactor">;

const api = apiOf(undefined);
const kinds: Readonly<Record<Factor["kind"], string>> = {
  authenticator_app: "Authenticator app",
  passkey: "Passkey",
};

export function FactorRow({ factor, isLast }: { readonly factor: Factor; readonly isLast: boolean }) {
  const { id, kind, name, created_at, last_used_at } = factor;
  const [open, setOpen] = useState<"rename" | "remove">();
  const close = () => setOpen(undefined);
  const remove = useAct({
    run: () => api.removeSecondFactor({ id }),
    changes: ["factors", "session"],
    done: `${name} is removed`,
    onDone: close,
  });
  const Icon = kind === "passkey" ? KeyRound : Smartphone;
  return (
    <li className="flex min-h-14 items-center gap-3 border-b border-line/60 py-2">
      <Icon size={16} aria-hidden className="shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{name}</p>
        <p className="text-muted">
          {kinds[kind]}, added <Time at={created_at} />,{" "}
          {last_used_at ? (
            <>
              used <Time at={last_used_at} />
            </>
          ) : (
            "never used"
          )}
        </p>
      </div>
      <ActMenu
        label={`Acts on ${name}`}
        acts={[
          { name: "Rename", run: () => setOpen("rename") },
          { name: "Remove", run: () => setOpen("remove"), isDanger: true },
        ]}
      />
      {open === "rename" && <Rename factor={factor} onClose={close} />}
      <Question
        title={`Remove ${name}?`}
        isOpen={open === "remove"}
        onClose={close}
        act="Remove it"
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        {isLast
          ? "It is your last second factor: the recovery codes stop working, and workspaces that require a second factor are closed to you."
          : "You can no longer sign in with it."}
      </Question>
    </li>
  );
}

function Rename({ factor, onClose }: { readonly factor: Factor; readonly onClose: () => void }) {
  const rename = useAct({
    run: (name: string) => api.renameSecondFactor({ id: factor.id, body: { name } }),
    changes: ["factors"],
    done: ({ name }) => `It is called ${name} now`,
    onDone: onClose,
  });
  return (
    <Dialog title={`Rename ${factor.name}`} isOpen onClose={onClose}>
      <ActForm act={rename} onSubmit={({ name = "" }) => rename.mutate(name)}>
        <Field
          name="name"
          label="Name"
          defaultValue={factor.name}
          maxLength={schema.properties.name?.maxLength ?? 0}
          isRequired
          autoFocus
        />
        <FormActs act={rename} onCancel={onClose}>
          Rename
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
