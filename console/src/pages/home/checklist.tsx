/** The steps of setting up: each leads to its form and ticks by itself. Gone when all are done. */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { usePlace } from "../../api/session.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Panel } from "../../parts/page.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";

type Step = Data<"getDashboard">["setup_checklist"]["items"][number];

const places: Readonly<Record<Step["key"], { readonly to: string; readonly opensForm?: boolean }>> = {
  verify_domain: { to: "domains", opensForm: true },
  publish_dkim: { to: "domains" },
  publish_dmarc: { to: "domains" },
  create_api_key: { to: "api-keys", opensForm: true },
  create_mailing_list: { to: "lists", opensForm: true },
  import_subscribers: { to: "lists" },
  send_first_email: { to: "messages" },
  send_first_campaign: { to: "campaigns", opensForm: true },
};

export function useDashboard(enabled = true) {
  const { api, workspace } = usePlace();
  return useQuery({
    queryKey: ["dashboard", workspace.id],
    queryFn: ({ signal }) => api.getDashboard({ signal }),
    enabled,
  });
}

export function Checklist() {
  const { data, error, refetch } = useDashboard();
  if (error)
    return (
      <Panel title="Set up">
        <Failure error={error} onRetry={() => refetch()} />
      </Panel>
    );
  const list = data?.setup_checklist;
  if (!list || list.completed === list.total) return null;
  return (
    <Panel title={`Set up: ${list.completed} of ${list.total} done`}>
      <ol className="grid gap-x-8 md:grid-cols-2">
        {list.items.map((step) => (
          <StepRow key={step.key} step={step} />
        ))}
      </ol>
    </Panel>
  );
}

function StepRow({ step: { key, label, completed } }: { readonly step: Step }) {
  const { to, opensForm } = places[key];
  return (
    <li className="flex min-h-10 items-center gap-3 border-b border-line/60">
      <span
        aria-hidden
        className={`grid h-4.5 w-4.5 shrink-0 place-items-center rounded-full border ${completed ? "border-good bg-good text-surface" : "border-control"}`}
      >
        {completed && <Check size={12} strokeWidth={3} />}
      </span>
      {completed ? (
        <span className="text-muted">{label}</span>
      ) : (
        <PlaceLink to={to} {...(opensForm && { search: { new: true } })} className="hover:underline">
          {label}
        </PlaceLink>
      )}
      <span className="sr-only">{completed ? "done" : "to do"}</span>
    </li>
  );
}
