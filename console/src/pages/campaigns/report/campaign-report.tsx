/** A campaign that is not being written: how far it is, what it brought, who got it. One address, whatever its state. */

import type { Data } from "@posthaste/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCampaignLinks } from "../../../api/campaign-links.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Page } from "../../../parts/page.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { Together } from "../../../parts/together.tsx";
import { actsOnce, useCampaignAct } from "../use-campaign-act.ts";
import { Content } from "./content.tsx";
import { Curve, useActivity } from "./curve.tsx";
import { Domains } from "./domains.tsx";
import { Draft } from "./draft.tsx";
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
  const { workspace } = usePlace();
  return (
    <Page
      title={campaign.name}
      acts={mayCall(workspace, "duplicateCampaign") && <Copy campaign={campaign} />}
    >
      <div className="-mt-3 mb-4 flex gap-4 text-muted">
        <Link to={`/${workspace.id}/campaigns`} className="shrink-0 text-accent hover:underline">
          All campaigns
        </Link>
        <span className="truncate">{campaign.subject}</span>
      </div>
      {campaign.status === "draft" ? <Draft campaign={campaign} /> : <Report campaign={campaign} />}
    </Page>
  );
}

function Report({ campaign }: { readonly campaign: Campaign }) {
  const { progress, error, retry, asOf } = useProgress(campaign.id, campaign.status);
  if (progress === undefined) {
    return error ? <Failure error={error} onRetry={retry} /> : <Waiting lines={6} />;
  }
  return (
    <>
      <StateSection campaign={campaign} progress={progress} asOf={asOf} />
      {progress.status !== "scheduled" && (
        <section aria-label="Audience" className="border-t border-line py-5">
          <PeopleBar progress={progress} listId={campaign.mailing_list_id} />
        </section>
      )}
      <Tabs label="Views of the campaign" views={viewsOf(campaign, progress)} />
    </>
  );
}

function viewsOf(campaign: Campaign, progress: Progress) {
  const isRunning = progress.status === "sending";
  const isUnderWay = isRunning || progress.status === "paused";
  const delivery = {
    id: "delivery",
    name: "Delivery",
    content: () => (
      <div className="-mt-4">
        {isUnderWay ? <RunningDomains progress={progress} /> : <Domains id={campaign.id} />}
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
  // While it is under way, delivery is what matters; what was never sent has no results.
  if (isUnderWay) return [delivery, results, recipients, content];
  return progress.attempted === 0 ? [content] : [results, delivery, recipients, content];
}

function Results({ campaign, progress }: { readonly campaign: Campaign; readonly progress: Progress }) {
  const { delivered } = progress.counts;
  const bases = (
    <p className="border-t border-line pt-5 text-small text-muted">
      Opens and clicks count each person once; what programs do is beside them. “Usually” is the rate of your
      last campaigns together. Rates are of {counted(delivered, "delivered message")}, bounces of those
      attempted.
    </p>
  );
  return (
    <div className="-mt-4">
      <Figures campaign={campaign} progress={progress} />
      {campaign.message_type === "email" ? (
        <CurveAndLinks campaign={campaign} progress={progress}>
          {bases}
        </CurveAndLinks>
      ) : (
        bases
      )}
    </div>
  );
}

function CurveAndLinks({
  campaign,
  progress,
  children,
}: {
  readonly campaign: Campaign;
  readonly progress: Progress;
  readonly children: ReactNode;
}) {
  const isRunning = progress.status === "sending";
  const activity = useActivity(campaign.id, isRunning);
  const links = useCampaignLinks(campaign.id);
  return (
    <Together isWaiting={activity.isPending || links.isPending}>
      <Curve campaign={campaign} isRunning={isRunning} />
      <Links campaign={campaign} delivered={progress.counts.delivered} />
      {children}
    </Together>
  );
}

/** What was sent cannot be changed; a copy can. */
function Copy({ campaign }: { readonly campaign: Campaign }) {
  const copy = useCampaignAct();
  return (
    <>
      {copy.error && <Failure error={copy.error} />}
      <Button onPress={() => copy.mutate({ act: "duplicate", campaign })} isPending={copy.isPending}>
        {actsOnce.duplicate.name}
      </Button>
    </>
  );
}
