/** Home: is everything all right, and what is next? */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { countText, rateText } from "../../parts/numbers.ts";
import { Page, Panel } from "../../parts/page.tsx";

type Dashboard = Data<"getDashboard">;

const MEANINGFUL_BASE = 100;

export function HomePage() {
  const { api, session, workspace } = usePlace();
  const mayRead = mayCall(workspace, "getDashboard");
  const { data, error, refetch } = useQuery({
    queryKey: ["dashboard", workspace.id],
    queryFn: ({ signal }) => api.getDashboard({ signal }),
    enabled: mayRead,
  });
  return (
    <Page title={`Hello, ${session.person.name.split(" ")[0]}`}>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!mayRead && (
        <p className="text-muted">
          Your role ({workspace.role.name}) shows no figures. Choose a page at the side.
        </p>
      )}
      {data && data.setup_checklist.completed < data.setup_checklist.total && (
        <Checklist list={data.setup_checklist} />
      )}
      {data && <Figures figures={data.stats} since={data.period_start} />}
    </Page>
  );
}

function Figures({ figures, since }: { readonly figures: Dashboard["stats"]; readonly since: string }) {
  const { workspace } = usePlace();
  const { total, delivered } = figures;
  const shown = [
    { name: "Delivered", count: delivered, of: total, filter: "delivered" },
    { name: "Opened by people", count: figures.unique_opens, of: delivered },
    { name: "Clicked", count: figures.unique_clicks, of: delivered },
    { name: "Bounced", count: figures.bounced, of: total, filter: "bounced" },
    { name: "Complained", count: figures.complained, of: delivered, filter: "complained" },
  ];
  const start = new Date(since).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
  return (
    <Panel title={`${countText(total)} messages since ${start}`}>
      <dl className="grid grid-cols-2 gap-6 sm:grid-cols-5">
        {shown.map(({ name, count, of, filter }) => (
          <div key={name}>
            <dt className="text-muted">{name}</dt>
            <dd className={`text-figure font-semibold tracking-tight ${count === 0 ? "text-muted" : ""}`}>
              {filter ? (
                <Link
                  to={`/${workspace.id}/messages`}
                  search={{ status: filter } as never}
                  className="hover:underline"
                >
                  {countText(count)}
                </Link>
              ) : (
                countText(count)
              )}
            </dd>
            <dd className={`text-small text-muted ${of < MEANINGFUL_BASE ? "opacity-80" : ""}`}>
              {rateText(count, of)}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Checklist({ list }: { readonly list: Dashboard["setup_checklist"] }) {
  return (
    <Panel title={`Set up: ${list.completed} of ${list.total} done`}>
      <ol>
        {list.items.map(({ key, label, completed }) => (
          <li key={key} className="flex h-9 items-center gap-3 border-b border-line/60">
            <span
              aria-hidden
              className={`grid h-4.5 w-4.5 place-items-center rounded-full border text-[11px] ${completed ? "border-good bg-good text-surface" : "border-control"}`}
            >
              {completed && "✓"}
            </span>
            <span className={completed ? "text-muted" : ""}>{label}</span>
            <span className="sr-only">{completed ? "done" : "to do"}</span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
