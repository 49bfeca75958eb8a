/** While a campaign is sent: the results at the receiving domains with the most mail. */
import { countText } from "../../../parts/numbers.ts";
import { Panel } from "../../../parts/page.tsx";
import { type FigureColumn, ReportTable } from "./report-table.tsx";
import type { Progress } from "./use-progress.ts";

type Row = Progress["domains"][number];
type Count = Exclude<keyof Row, "domain">;

const SHOWN = 8;

export function RunningDomains({ progress }: { readonly progress: Progress }) {
  const rows = rowsOf(progress);
  return (
    <Panel title="By recipient domain">
      {rows.length === 0 ? (
        <p className="text-muted">The first messages are being made.</p>
      ) : (
        <ReportTable
          label="By recipient domain"
          rows={rows}
          idOf={({ domain }) => domain}
          columns={columns}
        />
      )}
    </Panel>
  );
}

/** The largest domains, and all others as one. */
function rowsOf({ domains, other_domains }: Progress): readonly Row[] {
  const { domains: unlisted, ...unlistedCounts } = other_domains;
  const rest = domains.slice(SHOWN);
  if (rest.length + unlisted === 0) return domains;
  const others = { ...unlistedCounts, domain: `${countText(rest.length + unlisted)} other domains` };
  const counts = Object.keys(unlistedCounts) as Count[];
  for (const one of rest) for (const count of counts) others[count] += one[count];
  return [...domains.slice(0, SHOWN), others];
}

const column = (head: string, count: Count, isSecondary = false): FigureColumn<Row> => ({
  head,
  isNumeric: true,
  isSecondary,
  cell: (row) => <span className={row[count] === 0 ? "text-muted" : ""}>{countText(row[count])}</span>,
});

const columns: readonly FigureColumn<Row>[] = [
  { head: "Domain", cell: ({ domain }) => <span title={domain}>{domain}</span> },
  column("Waiting", "queued"),
  column("Delivered", "delivered"),
  column("Deferred", "deferred"),
  column("Bounced", "bounced", true),
  column("Failed", "failed", true),
];
