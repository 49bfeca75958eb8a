/** Home: is everything all right, and what is next? */
import { useNotices } from "../../api/notices.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Page } from "../../parts/page.tsx";
import { Together } from "../../parts/together.tsx";
import { LastCampaigns, SendingNow, useLastCampaigns, useSending } from "./campaigns.tsx";
import { Checklist, useDashboard } from "./checklist.tsx";
import { Figures, useDays } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";

export function HomePage() {
  const { session, workspace } = usePlace();
  const mayReport = mayCall(workspace, "getDashboard");
  const maySeeCampaigns = mayCall(workspace, "listCampaigns");
  const { notices, error } = useNotices(false);
  const dashboard = useDashboard(mayReport);
  const sending = useSending(maySeeCampaigns);
  const days = useDays(mayReport);
  const last = useLastCampaigns(maySeeCampaigns);
  const isLoading = [dashboard, sending, days, last].some((query) => query.isLoading);
  return (
    <Page title={`Hello, ${session.person.name.split(" ")[0]}`}>
      <Together isWaiting={isLoading || (notices === undefined && !error)}>
        <NeedsYou />
        {mayReport && <Checklist />}
        {maySeeCampaigns && <SendingNow />}
        {mayReport && <Figures />}
        {maySeeCampaigns && <LastCampaigns />}
        {!mayReport && !maySeeCampaigns && (
          <p className="border-t border-line py-5 text-muted">
            Your role ({workspace.role.name}) shows neither figures nor campaigns. An owner of{" "}
            {workspace.name} can give you another role.
          </p>
        )}
      </Together>
    </Page>
  );
}
