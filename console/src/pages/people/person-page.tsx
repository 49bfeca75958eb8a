/** One person: whether they may be mailed, what happened, their lists, fields and segments. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Person, personQuery } from "../../api/people.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { findingsQuery } from "../../api/suppression.ts";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { nameOf } from "../../parts/person-name.ts";
import { SkeletonLines } from "../../parts/skeleton-lines.tsx";
import { isUnknown } from "../../parts/unknown.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { Blocks, FindingSentence } from "../suppression/finding.tsx";
import { EditPersonDialog } from "./edit-person-dialog.tsx";
import { EraseDialog } from "./erase-dialog.tsx";
import { textOf } from "./field-input.tsx";
import { PersonLists } from "./person-lists.tsx";
import { PersonFacts } from "./person-panel.tsx";
import { PersonState } from "./person-state.tsx";
import { PersonTimeline } from "./person-timeline.tsx";

export function PersonPage() {
  const { person: id = "" } = useParams({ strict: false }) as { readonly person?: string };
  const place = usePlace();
  const { data, error, refetch } = useQuery(personQuery(place, id));
  if (isUnknown(error)) return <UnknownPerson />;
  if (error) {
    return (
      <Page title="Person">
        <Failure error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (data) return <KnownPerson person={data} />;
  return (
    <Page title="Person">
      <SkeletonLines count={6} />
    </Page>
  );
}

function UnknownPerson() {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  return (
    <Page title="Person">
      <Empty
        title="There is no such person"
        action={
          <>
            <Button onPress={() => void navigate({ to: `/${workspace.id}/people` })}>
              Look among people
            </Button>
            <Button onPress={() => void navigate({ to: `/${workspace.id}/messages` })}>
              Look among messages
            </Button>
          </>
        }
      >
        The person was deleted or erased, or the link is of another workspace. Mail of programs goes to
        addresses that are on no list: those are found among messages.
      </Empty>
    </Page>
  );
}

function KnownPerson({ person }: { readonly person: Person }) {
  const { workspace } = usePlace();
  const { id, email, status } = person;
  const name = nameOf(person);
  const [dialog, setDialog] = useState<"edit" | "erase">();
  return (
    <Page
      title={name ?? email}
      acts={
        <>
          {mayCall(workspace, "updateMember") && <Button onPress={() => setDialog("edit")}>Edit</Button>}
          <ActMenu
            label="More about this person"
            acts={[
              {
                name: "Download their data",
                run: () => location.assign(`/api/v1/subscribers/${id}/export?workspace=${workspace.id}`),
              },
              ...(mayCall(workspace, "eraseSubscriber")
                ? [{ name: "Erase this person", run: () => setDialog("erase"), isDanger: true }]
                : []),
            ]}
          />
        </>
      }
    >
      <p className="-mt-3 mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
        <Link to={`/${workspace.id}/people`} className="text-accent hover:underline">
          All people
        </Link>
        {name && <span className="truncate">{email}</span>}
        <PersonState status={status} />
        {mayCall(workspace, "listMessages") && (
          <Link
            to={`/${workspace.id}/messages`}
            search={{ email } as never}
            className="text-accent hover:underline"
          >
            Messages to this address
          </Link>
        )}
      </p>
      <MayBeMailed email={email} />
      <div className="grid gap-x-10 lg:grid-cols-[minmax(0,1fr)_320px]">
        <div className="min-w-0">
          <PersonLists person={person} />
          <PersonTimeline id={id} />
        </div>
        <div className="min-w-0 max-lg:row-start-1">
          <Panel title="Facts">
            <PersonFacts person={person} />
          </Panel>
          <Fields person={person} />
          {mayCall(workspace, "listSegmentsOfSubscriber") && <Segments id={id} />}
        </div>
      </div>
      {dialog === "edit" && <EditPersonDialog person={person} onClose={() => setDialog(undefined)} />}
      {dialog === "erase" && <EraseDialog person={person} onClose={() => setDialog(undefined)} />}
    </Page>
  );
}

function MayBeMailed({ email }: { readonly email: string }) {
  const place = usePlace();
  const { data, error, refetch } = useQuery(findingsQuery(place, [email]));
  if (!mayCall(place.workspace, "findSuppressions")) return null;
  const finding = data?.[0];
  return (
    <Panel title="May be mailed?">
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      <div className="min-h-5">{finding && <FindingSentence finding={finding} />}</div>
      {finding && finding.blocks.length > 0 && (
        <div className="mt-3">
          <Blocks blocks={finding.blocks} />
        </div>
      )}
    </Panel>
  );
}

function Fields({ person }: { readonly person: Person }) {
  const entries = Object.entries(person.custom_fields);
  return (
    <Panel title="Fields">
      {entries.length === 0 && <p className="text-muted">No values.</p>}
      <dl className="grid grid-cols-[minmax(80px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        {entries.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="max-w-36 truncate text-muted" title={name}>
              {name}
            </dt>
            <dd className="min-w-0 break-words">{textOf(value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Segments({ id }: { readonly id: string }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["person", workspace.id, id, "segments"],
    queryFn: ({ signal }) => api.listSegmentsOfSubscriber({ id, signal }),
  });
  return (
    <Panel title="Segments">
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p className="text-muted">In no segment now.</p>}
      <ul className="flex flex-col gap-1">
        {data?.map((segment) => (
          <li key={segment.id} className="min-w-0 truncate">
            <PlaceLink
              to={`lists/${segment.mailing_list_id}/segments/${segment.id}`}
              className="text-accent hover:underline"
            >
              {segment.name}
            </PlaceLink>{" "}
            <span className="text-muted">of {segment.mailing_list_name}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
