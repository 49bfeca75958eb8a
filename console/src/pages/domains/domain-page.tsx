/** A domain: each DNS record, expected beside found, with what the check says in words; then its keys and settings. */
import type { Data, Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useAct } from "../../api/act.ts";
import { useDomains } from "../../api/domains.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { isUnknown, Unknown } from "../../parts/unknown.tsx";
import { CheckAgain } from "./check-again.tsx";
import { DkimKeys } from "./dkim-keys.tsx";
import { DnsRecord, DnsState } from "./dns-record.tsx";
import { DomainSwitches } from "./domain-switches.tsx";
import { zoneFile } from "./zone-file.ts";

type Dns = Data<"getSendingDomainDnsStatus">["dns"];
type Purpose = Dns["records"][number]["purpose"];

const titles: Readonly<Record<Purpose, string>> = {
  ownership: "Ownership: the domain is yours",
  spf: "SPF: this service may send for it",
  dkim: "DKIM: mail is signed",
  dmarc: "DMARC: what receivers do with forgeries",
  return_path: "Return path: bounces come back here",
  dmarc_reports: "DMARC reports come here",
  tracking: "Links begin with your own domain",
  receiving: "Mail to inbound routes comes here",
};

export function DomainPage() {
  const { domain: id = "" } = useParams({ strict: false }) as { readonly domain?: string };
  const { api, workspace } = usePlace();
  const [isDeleting, setDeleting] = useState(false);
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery({
    queryKey: ["domain", workspace.id, id],
    queryFn: ({ signal }) => api.getSendingDomainDnsStatus({ id, signal }),
  });
  const domain = useDomains().data?.find((one) => one.id === id);
  const mayWrite = mayCall(workspace, "verifySendingDomain");
  const verify = useVerify(id, data?.dns);
  const records = data?.dns.records ?? [];
  const look = useCallback(() => void refetch(), [refetch]);
  if (isUnknown(error) && !data) return <Unknown title="Domain" to="domains" />;
  return (
    <Page
      title={data?.domain ?? domain?.domain ?? "Domain"}
      acts={
        mayWrite && (
          <ActMenu
            label="More acts"
            acts={[{ name: "Delete the domain", run: () => setDeleting(true), isDanger: true }]}
          />
        )
      }
    >
      <p className="-mt-3 mb-4">
        <Link to={`/${workspace.id}/domains`} className="text-accent hover:underline">
          All domains
        </Link>
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-4">
        <CheckAgain
          isDone={records.length > 0 && records.every(({ status }) => status === "verified")}
          isLooking={isFetching || verify.isPending}
          lookedAt={dataUpdatedAt}
          look={look}
          onPress={mayWrite ? () => verify.mutate() : look}
        />
        {records.length > 0 && (
          <a
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(zoneFile(records))}`}
            download={`${data?.domain}.zone`}
            className="ml-auto inline-flex h-8 items-center gap-1.5 text-accent hover:underline"
          >
            <Download size={15} aria-hidden /> Zone file
          </a>
        )}
      </div>
      {(error ?? verify.error) && <Failure error={error ?? verify.error} onRetry={() => refetch()} />}
      {!data && !error && <RecordSkeletons />}
      {data?.dns_provider && <Provider {...data.dns_provider} />}
      <ul>
        {records.map((record) => (
          <li key={`${record.purpose} ${record.host}`} className="border-t border-line py-5">
            <RecordCheck
              record={record}
              check={checkOf(record, data?.dns)}
              provider={data?.dns_provider ?? null}
            />
          </li>
        ))}
      </ul>
      {domain && <DomainSwitches domain={domain} />}
      {data && mayCall(workspace, "listDkimKeys") && <DkimKeys domain={data.domain} />}
      {isDeleting && data && <DeleteDomain id={id} name={data.domain} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

/** Stores what a look has found, when the person asks, and by itself as soon as a look finds more than is stored. */
function useVerify(id: string, dns: Dns | undefined) {
  const { api, workspace } = usePlace();
  const stored = useDomains().data?.find((one) => one.id === id);
  const verify = useAct({
    run: () => api.verifySendingDomain({ id }),
    changes: ["domain", "domains"],
    done: ({ verified }) => (verified ? "The domain is verified" : "Some records are still missing"),
  });
  const seen = useRef<Dns>(undefined);
  const isMore =
    dns !== undefined &&
    stored !== undefined &&
    ((dns.ownership.status === "verified" && !stored.is_verified) ||
      (dns.spf.status === "verified" && !stored.spf_verified) ||
      (dns.dkim?.status === "verified" && !stored.dkim_verified) ||
      (dns.dmarc.status === "verified" && !stored.dmarc_verified) ||
      (dns.return_path?.status === "verified" && !stored.return_path_verified));
  const { mutate, isPending } = verify;
  const mayWrite = mayCall(workspace, "verifySendingDomain");
  useEffect(() => {
    if (!isMore || !mayWrite || isPending || seen.current === dns) return;
    seen.current = dns;
    mutate();
  }, [isMore, mayWrite, isPending, dns, mutate]);
  return verify;
}

/** The look-up of a record. Of several DKIM keys only one has been looked up. */
function checkOf({ purpose, host }: Dns["records"][number], dns: Dns | undefined) {
  if (purpose === "receiving") return dns?.receiving.find((check) => check.host === host);
  const check = dns?.[purpose] ?? undefined;
  return purpose === "dkim" && check?.host !== host ? undefined : check;
}

/** Where the records are to be added, and what its form does with them. */
function Provider({ name, zone, name_servers, proxies_aliases }: Schema<"DnsProvider">) {
  return (
    <p className="pb-4 text-muted break-words">
      {name === null
        ? `Add the records where ${zone} has its DNS. Its name servers are ${name_servers.join(", ")}.`
        : `${zone} has its DNS at ${name}: add the records there. Its form appends ${zone} to names.`}
      {proxies_aliases && " Switch its proxy off for CNAME records (DNS only)."}
    </p>
  );
}

function formOf(provider: Schema<"DnsProvider"> | null): string | undefined {
  if (provider?.name == null) return undefined;
  const { name, name_field } = provider;
  return name_field === null ? `the form of ${name}` : `the field ${name_field} of ${name}`;
}

function RecordCheck({
  record,
  check,
  provider,
}: {
  readonly record: Dns["records"][number];
  readonly check: Schema<"DnsCheck"> | undefined;
  readonly provider: Schema<"DnsProvider"> | null;
}) {
  const { purpose, type, host, host_relative, value, required, status } = record;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3">
        <h2 className="font-semibold">{titles[purpose]}</h2>
        {!required && <span className="text-small text-muted">optional</span>}
        <span className="ml-auto">
          <DnsState status={status} />
        </span>
      </div>
      {check && <p className="mt-1 text-muted">{check.message}</p>}
      <DnsRecord
        type={type}
        host={host}
        nameInForm={{ name: host_relative, form: formOf(provider) }}
        value={value}
        check={check}
      />
    </>
  );
}

function RecordSkeletons() {
  return (
    <div aria-hidden>
      {["one", "two", "three", "four"].map((key) => (
        <div key={key} className="border-t border-line py-5">
          <div className="h-5 w-64 animate-appear rounded bg-sunken" />
          <div className="mt-4 h-36 animate-appear rounded bg-sunken" />
        </div>
      ))}
    </div>
  );
}

function DeleteDomain({
  id,
  name,
  onClose,
}: {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const remove = useAct({
    run: () => api.deleteSendingDomain({ id }),
    changes: ["domains"],
    done: `${name} is deleted`,
    onDone: () => navigate({ to: `/${workspace.id}/domains` }),
  });
  return (
    <Question
      title={`Delete ${name}?`}
      act="Delete the domain"
      typed={name}
      isOpen
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      Mail from {name} is refused from then on, and its DKIM keys are destroyed. This cannot be undone.
    </Question>
  );
}
