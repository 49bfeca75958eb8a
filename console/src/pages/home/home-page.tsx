/** Home: is everything all right, and what is next? */
import { useEffect, useState } from "react";
import { useNotices } from "../../api/notices.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Page } from "../../parts/page.tsx";
import { LastCampaigns, SendingNow, useLastCampaigns, useSending } from "./campaigns.tsx";
import { Checklist, useDashboard } from "./checklist.tsx";
import { Figures, useDays } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";

const MOST_WAIT_MS = 1_500;

export function HomePage() {
  const { session, workspace } = usePlace();
  const mayReport = mayCall(workspace, "getDashboard");
  const maySeeCampaigns = mayCall(workspace, "listCampaigns");
  const { notices, error } = useNotices(false);
  const dashboard = useDashboard(mayReport);
  const sending = useSending(maySeeCampaigns);
  const days = useDays(mayReport);
  const last = useLastCampaigns(maySeeCampaigns);
  // The panels appear together, so that nothing moves; a slow one holds the others up for a moment only.
  const isLoading = [dashboard, sending, days, last].some((query) => query.isLoading);
  const isWaiting = isLoading || (notices === undefined && !error);
  const [isShown, setShown] = useState(false);
  if (!isWaiting && !isShown) setShown(true);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), MOST_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Page title={`Hello, ${session.person.name.split(" ")[0]}`}>
      <div aria-busy={!isShown} className={isShown ? "" : "invisible h-0 overflow-hidden"}>
        <NeedsYou />
        {mayReport && <Checklist />}
        {maySeeCampaigns && <SendingNow />}
        {mayReport && <Figures />}
        {maySeeCampaigns && <LastCampaigns />}
      </div>
    </Page>
  );
}
