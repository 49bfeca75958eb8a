/** The DKIM keys of a domain: make one to replace another, check its record, delete the old one. */

import schema from "schema:DkimKeyInput";
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { DnsRecord, DnsState } from "./dns-record.tsx";

type Key = Data<"listDkimKeys">[number];

export function DkimKeys({ domain }: { readonly domain: string }) {
  const { api, workspace } = usePlace();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["dkim-keys", workspace.id],
    queryFn: ({ signal }) => api.listDkimKeys({ signal }),
  });
  const keys = data?.filter((key) => key.domain === domain) ?? [];
  const signing = keys
    .filter(({ verified_at }) => verified_at !== null)
    .sort((one, other) => other.created_at.localeCompare(one.created_at))[0];
  return (
    <Panel
      title="DKIM keys"
      acts={
        mayCall(workspace, "createDkimKey") && <Button onPress={() => setMaking(true)}>Create a key</Button>
      }
    >
      {error && <Failure error={error} onRetry={() => refetch()} />}
      <ul className="border-t border-line/60">
        {keys.map((key) => (
          <KeyRow key={key.id} dkimKey={key} isSigning={key.id === signing?.id} />
        ))}
      </ul>
      {isMaking && <NewKey domain={domain} onClose={() => setMaking(false)} />}
    </Panel>
  );
}

function KeyRow({ dkimKey, isSigning }: { readonly dkimKey: Key; readonly isSigning: boolean }) {
  const { api, workspace } = usePlace();
  const [isDeleting, setDeleting] = useState(false);
  const { id, selector, bits, verified_at, created_at, domain } = dkimKey;
  const check = useAct({
    run: () => api.verifyDkimKeyDns({ id }),
    changes: ["dkim-keys", "domain", "domains"],
    done: ({ verified }) => (verified ? `The key ${selector} is verified` : "The record is not found yet"),
  });
  const remove = useAct({
    run: () => api.deleteDkimKey({ id }),
    changes: ["dkim-keys", "domain", "domains"],
    done: `The key ${selector} is deleted`,
  });
  const mayWrite = mayCall(workspace, "deleteDkimKey");
  return (
    <li className="border-b border-line/60 py-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1">
        <span className="min-w-0 grow basis-full sm:basis-0">
          <span className="font-mono text-small">{selector}</span>{" "}
          <span className="text-muted">
            RSA {bits}, created <Time at={created_at} />
          </span>
        </span>
        <StateMark
          {...(verified_at
            ? { shape: "●", tone: "text-good", word: isSigning ? "signs" : "verified" }
            : { shape: "○", tone: "text-warning", word: "not verified" })}
        />
        {mayWrite && (
          <>
            <Button kind="quiet" onPress={() => check.mutate()} isPending={check.isPending}>
              Check
            </Button>
            <Button kind="quiet" onPress={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )}
      </div>
      {check.error && <Failure error={check.error} />}
      {check.data && !check.data.verified && (
        <div className="pb-3">
          <div className="mt-2 flex items-center gap-3">
            <p className="flex-1 text-muted">{check.data.message}</p>
            <DnsState status={check.data.status} />
          </div>
          <DnsRecord type="TXT" host={check.data.host} value={check.data.expected} check={check.data} />
        </div>
      )}
      <Question
        title={`Delete the key ${selector} of ${domain}?`}
        act="Delete the key"
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        {isSigning
          ? "This key signs the mail of the domain now. Without another verified key, mail is not signed by the domain."
          : "Mail that it signed can be verified as long as its record is published."}{" "}
        This cannot be undone.
      </Question>
    </li>
  );
}

const { selector: selectorSchema, bits: bitsSchema } = schema.properties;

function NewKey({ domain, onClose }: { readonly domain: string; readonly onClose: () => void }) {
  const { api } = usePlace();
  const sizes = (bitsSchema?.enum ?? []).map((size) => ({ id: String(size), name: `RSA ${size}` }));
  const [bits, setBits] = useState(bitsSchema?.default?.toString() ?? "");
  const create = useAct({
    run: (selector: string) =>
      api.createDkimKey({
        body: { domain, ...(selector && { selector }), bits: Number(bits) as Key["bits"] as 2048 },
      }),
    changes: ["dkim-keys", "domain"],
    done: ({ selector }) => `The key ${selector} is created`,
  });
  if (create.data) {
    const { dns_record, selector, warnings } = create.data;
    return (
      <Dialog title={`Publish the record of ${selector}`} isOpen onClose={onClose} isWide>
        <p className="text-muted">
          The former key signs until this record is seen. Publish it, then check the key.
        </p>
        {warnings.map((warning) => (
          <p key={warning} className="mt-2 text-warning">
            {warning}
          </p>
        ))}
        <DnsRecord {...dns_record} />
        <div className="mt-6 flex justify-end">
          <Button kind="primary" autoFocus onPress={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={`Create a DKIM key for ${domain}`} isOpen onClose={onClose}>
      <ActForm act={create} onSubmit={({ selector = "" }) => create.mutate(selector)}>
        <Field
          name="selector"
          label="Selector"
          hint={`The name of the key. ${selectorSchema?.description ?? ""}`}
          placeholder={selectorSchema?.default?.toString() ?? ""}
          autoFocus
        />
        <Choice label="Length" options={sizes} value={bits} onChange={(size) => setBits(String(size))} />
        <FormActs act={create} onCancel={onClose}>
          Create
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
