/** Mailing lists: their people, growth and health. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { listsQuery, type MailingList } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { Page } from "../../parts/page.tsx";
import { useNew } from "../../parts/use-new.ts";
import { Growth, healthReasons, type ListStats, useListStats } from "./list-figures.tsx";
import { ListForm } from "./list-form.tsx";

function columnsOf(stats: ReadonlyMap<string, ListStats>): readonly Column<MailingList>[] {
  return [
    { id: "name", head: "List", cell: ({ name }) => <span className="font-medium">{name}</span> },
    {
      id: "active",
      head: "Get mail",
      width: "96px",
      isNumeric: true,
      cell: ({ subscriber_count }) => countText(subscriber_count),
    },
    {
      id: "members",
      head: "People",
      width: "96px",
      isNumeric: true,
      isSecondary: true,
      cell: ({ total_subscribers }) => <span className="text-muted">{countText(total_subscribers)}</span>,
    },
    {
      id: "growth",
      head: "Growth",
      width: "176px",
      isSecondary: true,
      cell: ({ id }) => {
        const figures = stats.get(id);
        return figures && <Growth stats={figures} />;
      },
    },
    {
      id: "health",
      head: "Health",
      width: "35%",
      isSecondary: true,
      cell: ({ id }) => {
        const figures = stats.get(id);
        return (
          figures && (
            <>
              {figures.health_score}{" "}
              <span className="ml-2 text-small text-muted">{healthReasons(figures)}</span>
            </>
          )
        );
      },
    },
  ];
}

export function ListsPage() {
  const place = usePlace();
  const { workspace } = place;
  const navigate = useNavigate();
  const [isMaking, setMaking] = useNew();
  const { data, error, refetch } = useQuery(listsQuery(place));
  const stats = useListStats();
  const open = (id: string) => void navigate({ to: `/${workspace.id}/lists/${id}` });
  const make = mayCall(workspace, "createMailingList") && (
    <Button kind="primary" onPress={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New list
    </Button>
  );
  return (
    <Page title="Lists" acts={data?.length !== 0 && make}>
      {stats.error && <Failure error={stats.error} onRetry={() => void stats.refetch()} />}
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data?.length === 0 ? (
        <Empty title="No list yet" action={make}>
          A list holds people who get the same mail. Each has fields, a sign-up form and segments of its own.
        </Empty>
      ) : (
        <DataTable
          label="Lists"
          columns={columnsOf(new Map(stats.data?.map((one) => [one.id, one])))}
          rows={data}
          idOf={({ id }) => id}
          onOpen={({ id }) => open(id)}
        />
      )}
      {isMaking && make && (
        <Dialog title="New list" isOpen onClose={() => setMaking(false)}>
          <ListForm onCancel={() => setMaking(false)} onSaved={({ id }) => open(id)} />
        </Dialog>
      )}
    </Page>
  );
}
