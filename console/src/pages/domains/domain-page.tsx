/** A domain: each DNS record, expected beside found, with what the check says in words. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";

type Dns = Data<"getSendingDomainDnsStatus">["dns"];

interface Check {
  readonly status: string;
  readonly type: string;
  readonly host: string;
  readonly expected: string | null;
  readonly found: readonly string[];
  readonly message: string;
}

const titles = {
  ownership: "The domain is yours",
  spf: "SPF: this service may send for it",
  dkim: "DKIM: mail is signed",
  dmarc: "DMARC: what receivers do with forgeries",
  return_path: "Return path: bounces come back here",
  dmarc_reports: "Reports come here",
  tracking: "Links of your own domain",
} as const;

export function DomainPage() {
  const { domain: id = "" } = useParams({ strict: false }) as { readonly domain?: string };
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["domain", workspace.id, id],
    queryFn: ({ signal }) => api.getSendingDomainDnsStatus({ id, signal }),
  });
  const verify = useAct({
    run: () => api.verifySendingDomain({ id }),
    changes: ["domain", "domains"],
    done: ({ verified }) => (verified ? "The domain is verified" : "Some records are still missing"),
  });
  const checks = data ? checksOf(data.dns) : [];
  return (
    <Page
      title={data?.domain ?? "Domain"}
      acts={
        mayCall(workspace, "createSendingDomain") && (
          <Button kind="primary" onPress={() => verify.mutate()} isPending={verify.isPending}>
            <RefreshCw size={15} aria-hidden className={verify.isPending ? "animate-spin" : ""} /> Check now
          </Button>
        )
      }
    >
      <p className="-mt-3 mb-4">
        <Link to={`/${workspace.id}/domains`} className="text-accent hover:underline">
          All domains
        </Link>
      </p>
      {(error ?? verify.error) && <Failure error={error ?? verify.error} onRetry={() => refetch()} />}
      <ul>
        {checks.map(([name, check]) => (
          <RecordCheck key={name} title={titles[name]} check={check} />
        ))}
      </ul>
    </Page>
  );
}

/** The checks that apply to this domain, in the order in which people publish them. */
function checksOf(dns: Dns): readonly (readonly [keyof typeof titles, Check])[] {
  const names = Object.keys(titles) as (keyof typeof titles)[];
  return names.flatMap((name) => {
    const check = dns[name] as Check | null;
    return check ? [[name, check] as const] : [];
  });
}

function RecordCheck({ title, check }: { readonly title: string; readonly check: Check }) {
  const { status, type, host, expected, found, message } = check;
  const isGood = status === "ok" || status === "verified" || status === "valid";
  return (
    <li className="border-t border-line py-5">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="flex-1 font-semibold">{title}</h2>
        <StateMark
          shape={isGood ? "●" : "▲"}
          tone={isGood ? "text-good" : "text-bad"}
          word={status.replaceAll("_", " ")}
        />
      </div>
      <p className="mt-1 text-muted">{message}</p>
      {expected && (
        <dl className="mt-3 grid gap-x-4 gap-y-2 sm:grid-cols-[88px_minmax(0,1fr)]">
          <dt className="text-muted">{type} at</dt>
          <dd className="min-w-0">
            <Copyable text={host} label="host" />
          </dd>
          <dt className="text-muted">Expected</dt>
          <dd className="min-w-0">
            <Copyable text={expected} label="value" />
          </dd>
          <dt className="text-muted">Found</dt>
          <dd className="min-w-0">
            {found.length === 0 ? (
              <span className="text-muted">No record</span>
            ) : (
              found.map((value) => <Difference key={value} expected={expected} found={value} />)
            )}
          </dd>
        </dl>
      )}
    </li>
  );
}

/** What was found, with the part that differs from what was expected marked. */
function Difference({ expected, found }: { readonly expected: string; readonly found: string }) {
  const shorter = Math.min(expected.length, found.length);
  let start = 0;
  while (start < shorter && expected[start] === found[start]) start += 1;
  let end = 0;
  while (end < shorter - start && expected.at(-1 - end) === found.at(-1 - end)) end += 1;
  const middle = found.slice(start, found.length - end);
  return (
    <p className="font-mono text-small break-all">
      {found.slice(0, start)}
      {middle && <mark className="rounded-sm bg-bad/15 text-bad">{middle}</mark>}
      {end > 0 && found.slice(-end)}
    </p>
  );
}
