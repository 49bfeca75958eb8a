/** A number that leads to the people it counts. */
import type { Query } from "@posthaste/client";
import { Link } from "@tanstack/react-router";
import { usePlace } from "../../../api/session.tsx";
import { countText } from "../../../parts/numbers.ts";

export type RecipientFilter = Omit<Query<"listCampaignMessages">, "page" | "limit" | "after">;

interface Props {
  readonly campaignId: string;
  readonly count: number;
  readonly filter: RecipientFilter;
  /** For screen readers: who is counted, such as "people who opened". */
  readonly who: string;
}

export function RecipientsLink({ campaignId, count, filter, who }: Props) {
  const { workspace } = usePlace();
  if (count === 0) return <span className="text-muted">0</span>;
  return (
    <Link
      to={`/${workspace.id}/campaigns/${campaignId}`}
      search={{ tab: "recipients", ...filter } as never}
      aria-label={`${countText(count)} ${who}`}
      className="underline decoration-line decoration-1 underline-offset-4 hover:decoration-current"
    >
      {countText(count)}
    </Link>
  );
}
