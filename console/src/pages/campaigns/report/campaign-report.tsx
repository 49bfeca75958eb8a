/** A campaign that has left the drafts: how far it is, what it brought, who got it. One address, whatever its state. */
import type { Data } from "@posthaste/client";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Tabs } from "../../../parts/tabs.tsx";
import { Content } from "./content.tsx";
import { Curve } from "./curve.tsx";
import { Domains } from "./domains.tsx";
import { Events } from "./events.tsx";
import { Figures } from "./figures.tsx";
import { Links } from "./links.tsx";
import { PeopleBar } from "./people-bar.tsx";
import { Recipients } from "./recipients.tsx";
import { Waiting } from "./report-table.tsx";
import { RunningDomains } from "./running-domains.tsx";
import { StateSection } from "./state-section.tsx";
import { type Progress, useProgress } from "./use-progress.ts";

type Campaign = Data<"getCampaign">;

export function CampaignReport({ campaign }: { readonly campaign: Campaign }) {
  const { progress, error, retry, asOf } = useProgress(campaign.id, campaign.status);
  if (progress === undefined) {
    return error ? <Failure error={error} onRetry={retry} /> : <Waiting lines={6} />;
  }
  return (
    <>
      <StateSection campaign={campaign} progress={progress} asOf={asOf} />
      <section aria-label="Audience" className="border-t border-line py-5">
        <PeopleBar progress={progress} />
      </section>
      <Tabs label="Views of the campaign" views={viewsOf(campaign, progress)} />
    </>
  );
}

function viewsOf(campaign: Campaign, progress: Progress) {
  const isRunning = progress.status === "sending";
  const delivery = {
    id: "delivery",
    name: "Delivery",
    content: () => (
      <div className="-mt-4">
        {isRunning ? <RunningDomains progress={progress} /> : <Domains id={campaign.id} />}
        <Events id={campaign.id} isRunning={isRunning} />
      </div>
    ),
  };
  const results = {
    id: "results",
    name: "Results",
    content: () => <Results campaign={campaign} progress={progress} />,
  };
  const recipients = {
    id: "recipients",
    name: "Recipients",
    content: () => <Recipients campaign={campaign} />,
  };
  const content = { id: "content", name: "The mail", content: () => <Content campaign={campaign} /> };
  // While it is sent, delivery is what matters; what was never sent has no results.
  if (isRunning) return [delivery, results, recipients, content];
  return progress.attempted === 0 ? [content] : [results, delivery, recipients, content];
}

function Results({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const { delivered } = progress.counts;
  return (
    <div className="-mt-4">
      <Figures campaign={campaign} progress={progress} />
      {campaign.message_type === "email" && (
        <>
          <Curve id={campaign.id} isRunning={progress.status === "sending"} />
          <Links campaign={campaign} delivered={delivered} />
        </>
      )}
      <p className="border-t border-line pt-5 text-small text-muted">
        People's opens and clicks are counted once a person; what programs do is beside them. Rates are of{" "}
        {counted(delivered, "delivered message")}.
      </p>
    </div>
  );
}
