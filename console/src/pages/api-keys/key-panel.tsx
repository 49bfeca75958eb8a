/** One key beside the list: what it may do, whether it is used, and its acts. */

import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { catalogueQuery, inWords, missingOf } from "../../parts/permissions.ts";
import { SidePanel } from "../../parts/side-panel.tsx";
import { Time } from "../../parts/time.tsx";
import { offerUndo } from "../../parts/undo.tsx";
import { KeyForm } from "./key-form.tsx";
import { type Key, KeyState, meaningOf } from "./key-state.tsx";

interface Props {
  readonly apiKey: Key;
  readonly onClose: () => void;
  readonly onIssued: (issued: Schema<"IssuedApiKey">) => void;
}

export function KeyPanel({ apiKey, onClose, onIssued }: Props) {
  const place = usePlace();
  const { data: catalogue } = useQuery(catalogueQuery(place));
  const { id, name, key_prefix, permissions, last_used_at, expires_at, created_at } = apiKey;
  const isStronger = missingOf(place.workspace.permissions, permissions).length > 0;
  return (
    <SidePanel label="Key" title={name} onClose={onClose}>
      <div className="px-5 py-4">
        <p className="mb-4 text-muted">{meaningOf(apiKey)}</p>
        <Facts>
          <Fact name="State">
            <KeyState apiKey={apiKey} />
          </Fact>
          <Fact name="Begins with">
            <code className="font-mono text-small">{key_prefix}…</code>
          </Fact>
          <Fact name="Last used">{last_used_at ? <Time at={last_used_at} isPrecise /> : "Never"}</Fact>
          <Fact name="Expires">{expires_at ? <Time at={expires_at} isPrecise /> : "Never"}</Fact>
          <Fact name="Made">
            <Time at={created_at} isPrecise />
          </Fact>
          <Fact name="Id">
            <Copyable text={id} label="key id" />
          </Fact>
        </Facts>
        <h3 className="mt-5 mb-1 text-small font-medium text-muted">It may</h3>
        <ul>
          {(catalogue ? inWords(catalogue, permissions) : permissions).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
        {!mayCall(place.workspace, "updateApiKey") ? null : isStronger ? (
          <p className="mt-6 text-muted">
            This key may do more than your role ({place.workspace.role.name}), so you cannot change it.
          </p>
        ) : (
          <KeyActs apiKey={apiKey} onClose={onClose} onIssued={onIssued} />
        )}
      </div>
    </SidePanel>
  );
}

/** Deactivating can be undone; a new secret and deleting cannot. */
function KeyActs({ apiKey, onClose, onIssued }: Props) {
  const { api } = usePlace();
  const { id, name, is_active } = apiKey;
  const [open, setOpen] = useState<"change" | "renew" | "delete">();
  const close = () => setOpen(undefined);
  const changes = ["api-keys", "api-key"];
  const reactivate = useAct({
    changes,
    run: () => api.reactivateApiKey({ id }),
    done: `${name} works again`,
  });
  const deactivate = useAct({
    changes,
    run: () => api.deactivateApiKey({ id }),
    done: `${name} is deactivated`,
    onDone: () => offerUndo(`${name} is deactivated`, () => reactivate.mutate()),
  });
  const renew = useAct({
    changes,
    run: () => api.regenerateApiKey({ id }),
    done: `${name} has a new secret`,
    onDone: (issued) => {
      close();
      onIssued(issued);
    },
  });
  const remove = useAct({
    changes,
    run: () => api.deleteApiKey({ id }),
    done: `${name} is deleted`,
    onDone: onClose,
  });
  const change = useAct({
    changes,
    run: (body: Parameters<Parameters<typeof KeyForm>[0]["onSubmit"]>[0]) => api.updateApiKey({ id, body }),
    done: `${name} is changed`,
    onDone: close,
  });
  const error = reactivate.error ?? deactivate.error;
  return (
    <div className="mt-6">
      <div className="flex flex-wrap gap-2">
        {is_active && <Button onPress={() => setOpen("change")}>Change</Button>}
        {is_active && <Button onPress={() => setOpen("renew")}>New secret</Button>}
        {is_active ? (
          <Button onPress={() => deactivate.mutate()} isPending={deactivate.isPending}>
            Deactivate
          </Button>
        ) : (
          <Button onPress={() => reactivate.mutate()} isPending={reactivate.isPending}>
            Reactivate
          </Button>
        )}
        <Button className="text-bad" onPress={() => setOpen("delete")}>
          Delete
        </Button>
      </div>
      {error && (
        <div className="mt-3">
          <Failure error={error} />
        </div>
      )}
      {open === "change" && (
        <Dialog title={`Change ${name}`} isOpen isWide onClose={close}>
          <KeyForm
            given={apiKey}
            act="Save"
            save={change}
            onSubmit={(wanted) => change.mutate(wanted)}
            onCancel={close}
          />
        </Dialog>
      )}
      <Question
        title={`Give ${name} a new secret?`}
        isOpen={open === "renew"}
        onClose={close}
        act="Make a new secret"
        onConfirm={() => renew.mutate()}
        isPending={renew.isPending}
        error={renew.error}
      >
        The present secret stops working at once. To change it without a gap, make a second key, give it to
        the program, then deactivate this one.
      </Question>
      {open === "delete" && (
        <Question
          title={`Delete ${name}?`}
          isOpen
          onClose={close}
          act="Delete the key"
          onConfirm={() => remove.mutate()}
          isPending={remove.isPending}
          error={remove.error}
          typed={name}
        >
          Programs that use it are refused at once, and it cannot come back. Its name stays in the message
          log.
        </Question>
      )}
    </div>
  );
}
