/** Domains and senders: what mail may be from. Each domain opens into its DNS records, expected beside found. */

import type { Data } from "@posthaste/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useEffect } from "react";
import { useDomains } from "../../api/domains.ts";
import { useLive } from "../../api/live.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page } from "../../parts/page.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { useNew } from "../../parts/use-new.ts";
import { AddDomain } from "./add-domain.tsx";
import { Senders } from "./senders.tsx";
import { TrackingDomains } from "./tracking-domains.tsx";

type Domain = Data<"listSendingDomains">[number];

const good = { shape: "●", tone: "text-good" } as const;
const bad = { shape: "○", tone: "text-warning" } as const;

export function DomainsPage() {
  const { workspace } = usePlace();
  const [isAdding, setAdding] = useNew();
  const { data, error, refetch } = useDomains();
  useLiveDomains();
  const mayWrite = mayCall(workspace, "createSendingDomain");
  const add = (
    <Button kind="primary" onPress={() => setAdding(true)}>
      <Plus size={16} aria-hidden /> Add a domain
    </Button>
  );
  return (
    <Page title="Domains & senders" acts={mayWrite && data?.length !== 0 && add}>
      {error ? (
        <Failure error={error} onRetry={() => refetch()} />
      ) : data?.length === 0 ? (
        <Empty title="No domain yet" action={mayWrite && add}>
          Mail from a domain of your own reaches the inbox. Add it, publish a few DNS records, and it is
          verified by itself.
        </Empty>
      ) : (
        <ul className="border-t border-line">
          {data === undefined && <li className="my-2 h-14 max-md:h-20 animate-appear rounded bg-sunken" />}
          {data?.map((one) => (
            <DomainRow key={one.id} domain={one} />
          ))}
        </ul>
      )}
      {(data !== undefined || error) && (
        <div className="mt-8">
          {mayCall(workspace, "listVerifiedSenders") && <Senders />}
          {mayCall(workspace, "listTrackingDomains") && <TrackingDomains />}
        </div>
      )}
      {isAdding && mayWrite && <AddDomain onClose={() => setAdding(false)} />}
    </Page>
  );
}

/** Loads the list again when a check, here or elsewhere, has found something else. */
function useLiveDomains() {
  const { workspace } = usePlace();
  const queries = useQueryClient();
  const state = useLive(workspace.id, "domains");
  const live = state && JSON.stringify(state);
  useEffect(() => {
    if (live !== undefined) void queries.invalidateQueries({ queryKey: ["domains", workspace.id] });
  }, [live, queries, workspace.id]);
}

function DomainRow({ domain }: { readonly domain: Domain }) {
  const { workspace } = usePlace();
  const { id, domain: name, is_verified, checked_at, is_active } = domain;
  const lights = [
    ["Ownership", is_verified],
    ["SPF", domain.spf_verified],
    ["DKIM", domain.dkim_verified],
    ["DMARC", domain.dmarc_verified],
    ...(domain.custom_return_path ? [["Return path", domain.return_path_verified] as const] : []),
  ] as const;
  return (
    <li className="border-b border-line">
      <Link
        to={`/${workspace.id}/domains/${id}`}
        className="grid min-h-14 items-center gap-x-6 gap-y-1 py-2.5 -outline-offset-2 hover:bg-sunken md:grid-cols-[minmax(0,1fr)_auto_150px]"
      >
        <span className="min-w-0 truncate font-medium">
          {name}
          {!is_active && <span className="ml-2 font-normal text-bad">switched off by the operator</span>}
        </span>
        <span className="flex flex-wrap gap-x-4 gap-y-1">
          {lights.map(([light, isGood]) => (
            <span key={light}>
              <StateMark {...(isGood ? good : bad)} word={light} />
              <span className="sr-only">{isGood ? "verified" : "not verified"}</span>
            </span>
          ))}
        </span>
        <span className="text-small text-muted md:text-right">
          {checked_at ? (
            <>
              checked <Time at={checked_at} />
            </>
          ) : (
            "not checked yet"
          )}
        </span>
      </Link>
    </li>
  );
}
