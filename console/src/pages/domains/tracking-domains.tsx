/** Domains of your own for the links and pictures in tracked mail. */

import schema from "schema:TrackingDomainInput";
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActForm, FormActs } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { DnsRecord } from "./dns-record.tsx";

export function TrackingDomains() {
  const { api, workspace } = usePlace();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["tracking-domains", workspace.id],
    queryFn: ({ signal }) => api.listTrackingDomains({ signal }),
  });
  return (
    <Panel
      title="Tracking domains"
      acts={
        mayCall(workspace, "createTrackingDomain") && (
          <Button onPress={() => setAdding(true)}>Add a tracking domain</Button>
        )
      }
    >
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {data?.length === 0 && (
        <p className="text-muted">
          Links in tracked mail begin with the address of this service. With a name below your domain they
          begin with that.
        </p>
      )}
      <ul>
        {data?.map((domain) => (
          <TrackingRow key={domain.id} domain={domain} />
        ))}
      </ul>
      {isAdding && <AddTracking onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function TrackingRow({ domain }: { readonly domain: Data<"listTrackingDomains">[number] }) {
  const { api, workspace } = usePlace();
  const { id, domain: name, is_verified, https_fault, checked_at, dns_record } = domain;
  const [isOpen, setOpen] = useState(!is_verified);
  const [isDeleting, setDeleting] = useState(false);
  const check = useAct({
    run: () => api.verifyTrackingDomain({ id }),
    changes: ["tracking-domains", "domain"],
    done: ({ verified }) => (verified ? `${name} is verified` : "The record is not found yet"),
    onDone: () => setOpen(true),
  });
  const remove = useAct({
    run: () => api.deleteTrackingDomain({ id }),
    changes: ["tracking-domains", "domain"],
    done: `${name} is deleted`,
  });
  const mayWrite = mayCall(workspace, "deleteTrackingDomain");
  return (
    <li className="border-b border-line/60 py-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1">
        <Button
          kind="quiet"
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
          className="-ml-2 min-w-0 px-2 text-text"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={`transition-transform duration-100 ${isOpen ? "rotate-90" : ""}`}
          />
          <span className="truncate">{name}</span>
        </Button>
        <span className="ml-auto">
          <StateMark
            {...(is_verified
              ? { shape: "●", tone: "text-good", word: "verified" }
              : { shape: "○", tone: "text-warning", word: "not verified" })}
          />
        </span>
        {checked_at && (
          <span className="text-small text-muted">
            checked <Time at={checked_at} />
          </span>
        )}
        {mayWrite && (
          <>
            <Button kind="quiet" onPress={() => check.mutate()} isPending={check.isPending}>
              Check
            </Button>
            <Button kind="quiet" aria-label={`Delete ${name}`} onPress={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )}
      </div>
      {check.error && <Failure error={check.error} />}
      {isOpen && (
        <div className="pb-3 pl-5">
          {check.data && <p className="text-muted">{check.data.message}</p>}
          {https_fault && <p className="text-warning">{https_fault}</p>}
          <DnsRecord {...dns_record} check={check.data} />
        </div>
      )}
      <Question
        title={`Delete ${name}?`}
        act="Delete the tracking domain"
        typed={name}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutate()}
        isPending={remove.isPending}
        error={remove.error}
      >
        New mail uses the address of this service in links. Leave the DNS record in place for as long as links
        of sent mail should work.
      </Question>
    </li>
  );
}

function AddTracking({ onClose }: { readonly onClose: () => void }) {
  const { api } = usePlace();
  const { domain } = schema.properties;
  const add = useAct({
    run: (name: string) => api.createTrackingDomain({ body: { domain: name } }),
    changes: ["tracking-domains"],
    done: (created) => `${created.domain} is added`,
    onDone: onClose,
  });
  return (
    <Dialog title="Add a tracking domain" isOpen onClose={onClose}>
      <ActForm act={add} onSubmit={({ domain = "" }) => add.mutate(domain)}>
        <Field
          name="domain"
          label="Name"
          hint="A name below a domain of yours. It gets a CNAME record to this service."
          placeholder="links.example.com"
          {...(domain?.maxLength && { maxLength: domain.maxLength })}
          isRequired
          autoFocus
        />
        <FormActs act={add} onCancel={onClose}>
          Add
        </FormActs>
      </ActForm>
    </Dialog>
  );
}
