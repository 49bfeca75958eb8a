/** API keys: what programs may do here. A key's secret is shown once. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { NewKeyDialog, SecretDialog } from "./new-key-dialog.tsx";

type Key = Data<"listApiKeys">[number];

const active = { shape: "●", tone: "text-good" } as const;
const inactive = { shape: "■", tone: "text-muted" } as const;

const columns: readonly Column<Key>[] = [
  { id: "name", head: "Name", cell: (key) => <span className="font-medium">{key.name}</span> },
  {
    id: "state",
    head: "State",
    width: "110px",
    cell: (key) => (
      <StateMark {...(key.is_active ? active : inactive)} word={key.is_active ? "active" : "inactive"} />
    ),
  },
  {
    id: "prefix",
    head: "Begins with",
    width: "150px",
    isSecondary: true,
    cell: (key) => <code className="font-mono text-small">{key.key_prefix}…</code>,
  },
  { id: "permissions", head: "May", isSecondary: true, cell: (key) => key.permissions.join(", ") },
  {
    id: "used",
    head: "Last used",
    width: "130px",
    isNumeric: true,
    cell: (key) =>
      key.last_used_at ? <Time at={key.last_used_at} /> : <span className="text-muted">Never</span>,
  },
];

export function ApiKeysPage() {
  const { api, workspace } = usePlace();
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const [open, setOpen] = useState<Key>();
  const { data, error, refetch } = useQuery({
    queryKey: ["api-keys", workspace.id],
    queryFn: ({ signal }) => api.listApiKeys({ query: { show_inactive: true }, signal }),
  });
  const mayWrite = mayCall(workspace, "createApiKey");
  const make = (
    <Button kind="primary" onPress={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New key
    </Button>
  );
  return (
    <Page title="API keys" acts={mayWrite && make}>
      {error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : data?.length === 0 ? (
        <Empty title="No program has a key yet" action={mayWrite && make}>
          A key lets a program send mail and manage what its permissions name. Give each program its own.
        </Empty>
      ) : (
        <DataTable
          label="API keys"
          columns={columns}
          rows={data}
          idOf={(key) => key.id}
          openId={open?.id}
          onOpen={setOpen}
        />
      )}
      {isMaking && (
        <NewKeyDialog
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setSecret(key);
          }}
        />
      )}
      {secret && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
      {open && mayWrite && <KeyActs apiKey={open} onClose={() => setOpen(undefined)} onSecret={setSecret} />}
    </Page>
  );
}

/** Deactivating can be undone; a new secret and deleting cannot. */
function KeyActs({
  apiKey,
  onClose,
  onSecret,
}: {
  readonly apiKey: Key;
  readonly onClose: () => void;
  readonly onSecret: (secret: string) => void;
}) {
  const { api } = usePlace();
  const { id, name, is_active } = apiKey;
  const change = { changes: ["api-keys"], onDone: onClose };
  const toggle = useAct({
    ...change,
    run: () => (is_active ? api.deactivateApiKey({ id }) : api.reactivateApiKey({ id })),
    done: `${name} is ${is_active ? "inactive" : "active"}`,
  });
  const renew = useAct({
    changes: ["api-keys"],
    run: () => api.regenerateApiKey({ id }),
    done: `${name} has a new secret`,
    onDone: ({ key }) => {
      onClose();
      onSecret(key);
    },
  });
  const remove = useAct({ ...change, run: () => api.deleteApiKey({ id }), done: `${name} is deleted` });
  return (
    <Question
      title={name}
      isOpen
      onClose={onClose}
      act="Delete for ever"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error ?? toggle.error ?? renew.error}
    >
      <p>
        {is_active
          ? "Programs that use this key are refused from the moment it is inactive. You can make it active again."
          : "This key is inactive: programs that use it are refused."}
      </p>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button onPress={() => toggle.mutate()} isPending={toggle.isPending}>
          {is_active ? "Make inactive" : "Make active"}
        </Button>
        {is_active && (
          <Button onPress={() => renew.mutate()} isPending={renew.isPending}>
            New secret
          </Button>
        )}
      </div>
    </Question>
  );
}
