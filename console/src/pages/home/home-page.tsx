/** Home: is everything all right, and what is next? */
import { useState } from "react";
import { useNotices } from "../../api/notices.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Page } from "../../parts/page.tsx";
import { LastCampaigns, SendingNow, useSending } from "./campaigns.tsx";
import { Checklist, useDashboard } from "./checklist.tsx";
import { Figures } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";

export function HomePage() {
  const { session, workspace } = usePlace();
  const mayReport = mayCall(workspace, "getDashboard");
  const maySeeCampaigns = mayCall(workspace, "listCampaigns");
  const { notices, error } = useNotices(false);
  const dashboard = useDashboard(mayReport);
  const sending = useSending(maySeeCampaigns);
  // What is above the figures appears together, so that nothing moves.
  const isWaiting = (notices === undefined && !error) || dashboard.isLoading || sending.isLoading;
  const [isShown, setShown] = useState(false);
  if (!isWaiting && !isShown) setShown(true);
  return (
    <Page title={`Hello, ${session.person.name.split(" ")[0]}`}>
      <div aria-busy={!isShown} className={isShown ? "" : "invisible"}>
        <NeedsYou />
        {mayReport && <Checklist />}
        {maySeeCampaigns && <SendingNow />}
        {mayReport && <Figures />}
        {maySeeCampaigns && <LastCampaigns />}
      </div>
    </Page>
  );
}
