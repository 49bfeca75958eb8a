/** Domains and senders: what mail may be from. Each domain opens into its DNS records, expected beside found. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { useLive } from "../../api/live.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";

type Domain = Data<"listSendingDomains">[number];

const good = { shape: "●", tone: "text-good" } as const;
const waiting = { shape: "◐", tone: "text-warning" } as const;

export function DomainsPage() {
  const { api, workspace } = usePlace();
  const [dialog, setDialog] = useState<"domain" | "sender">();
  const domains = useQuery({
    queryKey: ["domains", workspace.id],
    queryFn: ({ signal }) => api.listSendingDomains({ signal }),
  });
  const live = useLive<unknown>(workspace.id, "domains");
  const mayWrite = mayCall(workspace, "createSendingDomain");
  const add = (
    <Button kind="primary" onPress={() => setDialog("domain")}>
      <Plus size={16} aria-hidden /> Add a domain
    </Button>
  );
  return (
    <Page title="Domains & senders" acts={mayWrite && add} key={live === undefined ? "first" : "live"}>
      {domains.error ? (
        <Failure error={domains.error} onRetry={() => domains.refetch()} />
      ) : domains.data?.length === 0 ? (
        <Empty title="No domain yet" action={mayWrite && add}>
          Mail from a domain of your own reaches the inbox. Add it, publish a few DNS records, and it is
          verified by itself.
        </Empty>
      ) : (
        <ul className="border-t border-line">
          {domains.data?.map((one) => (
            <DomainRow key={one.id} domain={one} />
          ))}
        </ul>
      )}
      {mayCall(workspace, "listVerifiedSenders") && (
        <Senders onAdd={mayCall(workspace, "createVerifiedSender") ? () => setDialog("sender") : undefined} />
      )}
      {dialog === "domain" && <AddDomain onClose={() => setDialog(undefined)} />}
      {dialog === "sender" && <AddSender onClose={() => setDialog(undefined)} />}
    </Page>
  );
}

function DomainRow({
  domain: { id, domain, is_verified, spf_verified, dkim_verified, dmarc_verified, checked_at },
}: {
  readonly domain: Domain;
}) {
  const { workspace } = usePlace();
  const checks = [
    ["SPF", spf_verified],
    ["DKIM", dkim_verified],
    ["DMARC", dmarc_verified],
  ] as const;
  return (
    <li className="border-b border-line">
      <Link
        to={`/${workspace.id}/domains/${id}`}
        className="flex min-h-14 flex-wrap items-center gap-x-6 gap-y-1 py-2 hover:bg-sunken/60"
      >
        <span className="min-w-0 flex-1 truncate font-medium">{domain}</span>
        {checks.map(([name, isGood]) => (
          <StateMark key={name} {...(isGood ? good : waiting)} word={name} />
        ))}
        <span className="w-40 text-right text-muted">
          {is_verified ? "Verified" : "Not verified"}
          {checked_at && (
            <span className="block text-small">
              checked <Time at={checked_at} />
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}

function Senders({ onAdd }: { readonly onAdd: (() => void) | undefined }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["senders", workspace.id],
    queryFn: ({ signal }) => api.listVerifiedSenders({ signal }),
  });
  return (
    <Panel title="Single addresses" acts={onAdd && <Button onPress={onAdd}>Add an address</Button>}>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {data?.length === 0 && (
        <p className="text-muted">An address whose owner confirms it may send without its domain.</p>
      )}
      <ul>
        {data?.map((sender) => (
          <SenderRow key={sender.id} sender={sender} />
        ))}
      </ul>
    </Panel>
  );
}

function SenderRow({
  sender: { id, email, from_name, is_verified },
}: {
  readonly sender: Data<"listVerifiedSenders">[number];
}) {
  const { api, workspace } = usePlace();
  const again = useAct({
    run: () => api.resendVerifiedSenderLink({ id }),
    changes: ["senders"],
    done: `The link is sent to ${email}`,
  });
  const remove = useAct({
    run: () => api.deleteVerifiedSender({ id }),
    changes: ["senders"],
    done: `${email} is removed`,
  });
  const mayWrite = mayCall(workspace, "createVerifiedSender");
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-3 border-b border-line/60 py-1.5">
      <span className="min-w-0 flex-1 truncate">
        {email} {from_name && <span className="text-muted">{from_name}</span>}
      </span>
      <StateMark
        {...(is_verified ? good : waiting)}
        word={is_verified ? "confirmed" : "waits for its owner"}
      />
      {mayWrite && !is_verified && (
        <Button kind="quiet" onPress={() => again.mutate()} isPending={again.isPending}>
          Send the link again
        </Button>
      )}
      {mayWrite && (
        <Button kind="quiet" onPress={() => remove.mutate()} isPending={remove.isPending}>
          Remove
        </Button>
      )}
      {(again.error ?? remove.error) && <Failure error={again.error ?? remove.error} />}
    </li>
  );
}

function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const { api } = usePlace();
  const add = useAct({
    run: (domain: string) => api.createSendingDomain({ body: { domain } }),
    changes: ["domains"],
    done: ({ domain }) => `${domain} is added`,
    onDone: onClose,
  });
  return (
    <Dialog title="Add a domain" isOpen onClose={onClose}>
      <Form
        validationErrors={fieldErrors(add.error)}
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(String(new FormData(event.currentTarget).get("domain")).trim());
        }}
        className="flex flex-col gap-4"
      >
        <Field
          name="domain"
          label="Domain"
          hint="The part of your sender's address after the @."
          placeholder="mail.example.com"
          isRequired
          autoFocus
        />
        {add.error && <Failure error={add.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={add.isPending}>
            Add
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function AddSender({ onClose }: { readonly onClose: () => void }) {
  const { api } = usePlace();
  const add = useAct({
    run: (body: { email: string; from_name: string }) => api.createVerifiedSender({ body }),
    changes: ["senders"],
    done: ({ email }) => `A link is sent to ${email}`,
    onDone: onClose,
  });
  return (
    <Dialog title="Add an address" isOpen onClose={onClose}>
      <Form
        validationErrors={fieldErrors(add.error)}
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(
            Object.fromEntries(new FormData(event.currentTarget)) as { email: string; from_name: string },
          );
        }}
        className="flex flex-col gap-4"
      >
        <Field
          name="email"
          type="email"
          label="Email"
          hint="Its owner gets a link to confirm it."
          isRequired
          autoFocus
        />
        <Field name="from_name" label="Name of the sender" />
        {add.error && <Failure error={add.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={add.isPending}>
            Send the link
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
