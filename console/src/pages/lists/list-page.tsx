/** A mailing list: its people, fields, sign-up form, segments and settings. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import type { ReactNode } from "react";
import type { MailingList } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { countText } from "../../parts/numbers.ts";
import { Page } from "../../parts/page.tsx";
import { SkeletonLines } from "../../parts/skeleton-lines.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { isUnknown, Unknown } from "../../parts/unknown.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { PeopleList } from "../people/people-list.tsx";
import { ListFields } from "./list-fields.tsx";
import { Growth, healthReasons, useListStats } from "./list-figures.tsx";
import { ListSegments } from "./list-segments.tsx";
import { ListSettings } from "./list-settings.tsx";
import { SignupFormTab } from "./signup-form-tab.tsx";

export function MailingListPage() {
  const { list: id = "" } = useParams({ strict: false }) as { readonly list?: string };
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["list", workspace.id, id],
    queryFn: ({ signal }) => api.getMailingList({ id, signal }),
  });
  if (isUnknown(error)) return <Unknown title="List" to="lists" />;
  if (error) {
    return (
      <Page title="List">
        <Failure error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (data) return <KnownList key={data.id} list={data} />;
  return (
    <Page title="List">
      <SkeletonLines count={6} />
    </Page>
  );
}

function KnownList({ list }: { readonly list: MailingList }) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const views = [
    mayCall(workspace, "listSubscribers") && {
      id: "people",
      name: "People",
      content: () => <PeopleList list={list} />,
    },
    mayCall(workspace, "listCustomFields") && {
      id: "fields",
      name: "Fields",
      content: () => <ListFields listId={list.id} />,
    },
    { id: "form", name: "Sign-up form", content: () => <SignupFormTab listId={list.id} /> },
    mayCall(workspace, "listSegmentsOfList") && {
      id: "segments",
      name: "Segments",
      content: () => <ListSegments listId={list.id} />,
    },
    mayCall(workspace, "updateMailingList") && {
      id: "settings",
      name: "Settings",
      content: () => <ListSettings list={list} />,
    },
  ].filter((view) => view !== false);
  return (
    <Page
      title={list.name}
      acts={
        mayCall(workspace, "importSubscribers") && (
          <Button onPress={() => void navigate({ to: `/${workspace.id}/lists/${list.id}/import` })}>
            <Upload size={15} aria-hidden /> Import
          </Button>
        )
      }
    >
      <p className="-mt-3 mb-3">
        <Link to={`/${workspace.id}/lists`} className="text-accent hover:underline">
          All lists
        </Link>
      </p>
      {list.description && <p className="mb-3">{list.description}</p>}
      <Figures list={list} />
      <Tabs label="Parts of the list" views={views} />
    </Page>
  );
}

function Figures({ list }: { readonly list: MailingList }) {
  const { data, error, refetch } = useListStats();
  const stats = data?.find(({ id }) => id === list.id);
  return (
    <>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      <dl className="mb-4 grid min-h-14 grid-cols-2 gap-x-8 gap-y-3 sm:grid-cols-[1fr_1.3fr_1.6fr_1.1fr]">
        <Figure name="Get mail" note={`of ${countText(list.total_subscribers)} people`}>
          {countText(list.subscriber_count)}
        </Figure>
        <Figure
          name={`Growth${stats ? ` of ${stats.sparkline.length} days` : ""}`}
          note={stats && growthText(stats)}
        >
          {stats && <Growth stats={stats} />}
        </Figure>
        <Figure name="Health, of 100" note={stats && healthReasons(stats)}>
          {stats?.health_score}
        </Figure>
        <Figure name="Last campaign" note={stats?.last_campaign?.status}>
          {stats?.last_campaign ? (
            <PlaceLink to={`campaigns/${stats.last_campaign.id}`} className="text-accent hover:underline">
              {stats.last_campaign.name}
            </PlaceLink>
          ) : (
            stats && <span className="text-muted">None yet</span>
          )}
        </Figure>
      </dl>
    </>
  );
}

function growthText({
  new_subscribers,
  unsubscribed,
}: {
  readonly new_subscribers: number;
  readonly unsubscribed: number;
}) {
  return `${countText(new_subscribers)} joined, ${countText(unsubscribed)} unsubscribed`;
}

function Figure({
  name,
  note,
  children,
}: {
  readonly name: string;
  readonly note: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <div className="min-w-0">
      <dt className="text-small text-muted">{name}</dt>
      <dd className="flex h-6 items-center truncate text-[15px] leading-6 font-medium">{children}</dd>
      <dd className="min-h-8 text-small text-muted sm:min-h-4">{note}</dd>
    </div>
  );
}
