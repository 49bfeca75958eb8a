/** Campaigns: find, compare, start. Those that are being sent are up to date without a reload. */

import parameters from "operation:listCampaigns";
import type { Query } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { filterFields } from "../../filter/filter.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { useNew } from "../../parts/use-new.ts";
import { type Averages, averagesOf, type CampaignRow, campaignColumns } from "./campaign-columns.tsx";
import { NewCampaignDialog, type Start } from "./new-campaign-dialog.tsx";
import { RunningCampaigns } from "./running-campaigns.tsx";
import { useCampaignMenu } from "./use-campaign-menu.tsx";

const fields = filterFields(parameters, { from: "after", to: "before" });

export function CampaignsPage() {
  const navigate = useNavigate();
  const { api, workspace } = usePlace();
  const [start, setStart] = useState<Start>();
  const [averages, setAverages] = useState<Averages>();
  const [running, setRunning] = useState<readonly string[]>([]);
  const { menuOf, overlay } = useCampaignMenu();
  const mayWrite = mayCall(workspace, "createCampaign");
  const open = (id: string) => void navigate({ to: `/${workspace.id}/campaigns/${id}` });
  const [isNew, setNew] = useNew();
  const shownStart = start ?? (isNew && mayWrite ? "empty" : undefined);
  return (
    <>
      <ListPage<CampaignRow>
        title="Campaigns"
        noun="campaign"
        queryKey="campaigns"
        load={async (query, signal) => {
          const { campaigns, pagination } = await api.listCampaigns({
            query: query as Query<"listCampaigns">,
            signal,
          });
          setAverages(averagesOf(campaigns));
          setRunning(campaigns.filter(isMoving).map(({ id }) => id));
          return { rows: campaigns, pagination };
        }}
        columns={campaignColumns(menuOf, averages)}
        idOf={({ id }) => id}
        fields={fields}
        free="search"
        placeholder="Filter by name or subject, status:, after: …"
        onOpen={open}
        beside={(reload) => <RunningCampaigns ids={running} onChange={reload} />}
        acts={
          mayWrite && (
            <>
              <Button className="max-sm:hidden" onPress={() => setStart("html")}>
                Paste HTML
              </Button>
              <Button kind="primary" onPress={() => setStart("empty")}>
                <Plus size={16} aria-hidden /> New campaign
              </Button>
            </>
          )
        }
        isEmptyWithActs
        empty={
          <Empty
            title="No campaign yet"
            action={
              mayWrite && (
                <>
                  <Button kind="primary" onPress={() => setStart("empty")}>
                    <Plus size={16} aria-hidden /> New campaign
                  </Button>
                  <Button onPress={() => setStart("html")}>Paste HTML</Button>
                </>
              )
            }
          >
            A campaign is one mail to a list, or to the people of a segment. Each gets it once, and every
            message has a log of its own.
          </Empty>
        }
      />
      {overlay}
      {shownStart && (
        <NewCampaignDialog
          start={shownStart}
          onClose={() => {
            setStart(undefined);
            if (isNew) setNew(false);
          }}
          onMade={open}
        />
      )}
    </>
  );
}

function isMoving({ status }: CampaignRow): boolean {
  return status === "sending" || status === "scheduled";
}
