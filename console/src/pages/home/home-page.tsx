/** Home: is everything all right, and what is next? */
import { mayCall, usePlace } from "../../api/session.tsx";
import { Page } from "../../parts/page.tsx";
import { LastCampaigns, SendingNow } from "./campaigns.tsx";
import { Checklist } from "./checklist.tsx";
import { Figures } from "./figures.tsx";
import { NeedsYou } from "./needs-you.tsx";

export function HomePage() {
  const { session, workspace } = usePlace();
  const mayReport = mayCall(workspace, "getDashboard");
  const maySeeCampaigns = mayCall(workspace, "listCampaigns");
  return (
    <Page title={`Hello, ${session.person.name.split(" ")[0]}`}>
      <NeedsYou />
      {mayReport && <Checklist />}
      {maySeeCampaigns && <SendingNow />}
      {mayReport && <Figures />}
      {maySeeCampaigns && <LastCampaigns />}
    </Page>
  );
}
