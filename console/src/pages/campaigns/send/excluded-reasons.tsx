/** Why people get no mail, each reason with the way to its people. */
import type { Data } from "@posthaste/client";
import type { ReactNode } from "react";
import { countText } from "../../../parts/numbers.ts";
import { PlaceLink } from "../../../shell/place-link.tsx";

type Excluded = Data<"getCampaignProgress">["excluded"];

interface ReasonsProps {
  /** Of a campaign that runs, or of one that is checked, where no address is known to be a duplicate. */
  readonly excluded: Omit<Excluded, "duplicate"> & Partial<Pick<Excluded, "duplicate">>;
  readonly listId?: string | null;
}

export function ExcludedReasons({ excluded, listId = null }: ReasonsProps) {
  const people = (status: string) => ({ status, ...(listId !== null && { list_id: listId }) });
  const reasons = [
    { name: "suppressed", count: excluded.suppressed, to: "suppression", search: {} },
    { name: "unsubscribed", count: excluded.unsubscribed, to: "people", search: people("unsubscribed") },
    { name: "invalid", count: excluded.invalid, to: "people", search: people("bounced") },
  ];
  const shown: ReactNode[] = reasons
    .filter(({ count }) => count > 0)
    .map(({ name, count, to, search }) => (
      <PlaceLink
        key={name}
        to={to}
        search={search}
        className="whitespace-nowrap underline decoration-line underline-offset-4 hover:decoration-current"
      >
        {countText(count)} {name}
      </PlaceLink>
    ));
  if (excluded.duplicate) {
    shown.push(<span key="duplicate">{countText(excluded.duplicate)} got it at this address already</span>);
  }
  return <span className="flex flex-wrap gap-x-3">{shown}</span>;
}
