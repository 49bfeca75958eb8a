/** API keys: what programs may do here, whether they use it, and one key beside the list. */

import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { type Catalogue, catalogueQuery, inWords } from "../../parts/permissions.ts";
import { Time } from "../../parts/time.tsx";
import { useNew } from "../../parts/use-new.ts";
import { KeyForm, type Wanted } from "./key-form.tsx";
import { KeyPanel } from "./key-panel.tsx";
import { type Key, KeyState } from "./key-state.tsx";
import { NewSecret } from "./new-secret.tsx";
import { SmtpSettings } from "./smtp-settings.tsx";

export function ApiKeysPage() {
  const place = usePlace();
  const { api, workspace } = place;
  const navigate = useNavigate();
  const { open: openId } = useSearch({ strict: false }) as { readonly open?: string };
  const [isMaking, setMaking] = useNew();
  const [issued, setIssued] = useState<Schema<"IssuedApiKey">>();
  const { data: catalogue } = useQuery(catalogueQuery(place));
  const { data, error, refetch } = useQuery({
    queryKey: ["api-keys", workspace.id],
    queryFn: ({ signal }) => api.listApiKeys({ query: { show_inactive: true }, signal }),
  });
  const open = data?.find(({ id }) => id === openId);
  const show = (id?: string) => {
    void navigate({ to: ".", search: (id === undefined ? {} : { open: id }) as never });
  };
  const make = mayCall(workspace, "createApiKey") && (
    <Button kind="primary" onPress={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New key
    </Button>
  );
  return (
    <div className={`grid h-full min-h-0 ${open ? "lg:grid-cols-[minmax(0,1fr)_minmax(380px,38%)]" : ""}`}>
      <div className={`min-h-0 min-w-0 overflow-auto ${open ? "max-lg:hidden" : ""}`}>
        <Page title="API keys" acts={data?.length !== 0 && make}>
          {error ? (
            <Failure error={error} onRetry={refetch} />
          ) : data?.length === 0 ? (
            <Empty title="No program has a key yet" action={make}>
              A key lets a program send mail and manage what its permissions name. Give each program its own.
            </Empty>
          ) : (
            <DataTable
              label="API keys"
              columns={columnsOf(catalogue).filter(({ isSecondary }) => !open || !isSecondary)}
              rows={data}
              idOf={({ id }) => id}
              openId={openId}
              onOpen={({ id }) => show(id)}
            />
          )}
          {!error && (
            <div className="mt-8">
              <SmtpSettings password="The secret of a key that may send mail" />
            </div>
          )}
        </Page>
      </div>
      {/* The list with the title is hidden where there is no room for both. */}
      {open && <h1 className="sr-only lg:hidden">API keys</h1>}
      {open && <KeyPanel key={open.id} apiKey={open} onClose={() => show()} onIssued={setIssued} />}
      {isMaking && make && (
        <MakeKey
          onClose={() => setMaking(false)}
          onIssued={(made) => {
            setMaking(false);
            setIssued(made);
          }}
        />
      )}
      {issued && (
        <NewSecret
          issued={issued}
          onClose={() => {
            setIssued(undefined);
            // The first call may have come meanwhile.
            void refetch();
          }}
        />
      )}
    </div>
  );
}

function MakeKey({
  onClose,
  onIssued,
}: {
  readonly onClose: () => void;
  readonly onIssued: (issued: Schema<"IssuedApiKey">) => void;
}) {
  const { api } = usePlace();
  const make = useAct({
    run: (body: Wanted) => api.createApiKey({ body }),
    changes: ["api-keys"],
    done: ({ name }) => `The key ${name} is made`,
    onDone: onIssued,
  });
  return (
    <Dialog title="New API key" isOpen onClose={onClose} isWide>
      <KeyForm act="Make the key" save={make} onSubmit={(wanted) => make.mutate(wanted)} onCancel={onClose} />
    </Dialog>
  );
}

function columnsOf(catalogue: Catalogue | undefined): readonly Column<Key>[] {
  const never = <span className="text-muted">Never</span>;
  return [
    { id: "name", head: "Name", cell: ({ name }) => <span className="font-medium">{name}</span> },
    { id: "state", head: "State", width: "106px", cell: (key) => <KeyState apiKey={key} /> },
    {
      id: "prefix",
      head: "Begins with",
      width: "140px",
      isSecondary: true,
      cell: ({ key_prefix }) => <code className="font-mono text-small">{key_prefix}…</code>,
    },
    {
      id: "permissions",
      head: "It may",
      isSecondary: true,
      cell: ({ permissions }) => (catalogue ? inWords(catalogue, permissions).join(" · ") : ""),
    },
    {
      id: "expires",
      head: "Expires",
      width: "120px",
      isNumeric: true,
      isSecondary: true,
      cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : never),
    },
    {
      id: "used",
      head: "Last used",
      width: "116px",
      isNumeric: true,
      isSecondary: true,
      cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : never),
    },
  ];
}
