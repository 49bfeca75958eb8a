/** One person beside the list: the short facts. */
import { useQuery } from "@tanstack/react-query";
import { type Person, personQuery } from "../../api/people.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { findingsQuery } from "../../api/suppression.ts";
import { Copyable } from "../../parts/copyable.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted, rateText } from "../../parts/numbers.ts";
import { nameOf } from "../../parts/person-name.ts";
import { SidePanel } from "../../parts/side-panel.tsx";
import { Time } from "../../parts/time.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { FindingSentence } from "../suppression/finding.tsx";
import { PersonState } from "./person-state.tsx";

export function PersonPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const place = usePlace();
  const { data, error, refetch } = useQuery(personQuery(place, id));
  return (
    <SidePanel
      label="Person"
      title={data ? (nameOf(data) ?? data.email) : "Person"}
      page={`/${place.workspace.id}/people/${id}`}
      onClose={onClose}
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data && <ShortFacts person={data} />}
    </SidePanel>
  );
}

function ShortFacts({ person }: { readonly person: Person }) {
  const place = usePlace();
  const { workspace } = place;
  const findings = useQuery(findingsQuery(place, [person.email]));
  const finding = findings.data?.[0];
  return (
    <>
      {mayCall(workspace, "findSuppressions") && (
        <div className="min-h-13 border-b border-line px-5 py-4">
          {findings.error && <Failure error={findings.error} onRetry={() => void findings.refetch()} />}
          {finding && <FindingSentence finding={finding} />}
        </div>
      )}
      <div className="border-b border-line px-5 py-4">
        <PersonFacts person={person} />
      </div>
      <h3 className="px-5 pt-4 pb-2 text-small font-medium text-muted">Lists</h3>
      <ul className="px-5 pb-8">
        {person.lists.map((list) => (
          <li key={list.mailing_list_id} className="flex items-center gap-3 py-1">
            <span className="min-w-0 flex-1 truncate">
              <PlaceLink to={`lists/${list.mailing_list_id}`} className="text-accent hover:underline">
                {list.name}
              </PlaceLink>
            </span>
            <PersonState status={list.status} />
          </li>
        ))}
      </ul>
    </>
  );
}

export function PersonFacts({ person }: { readonly person: Person }) {
  const { stats } = person;
  return (
    <Facts>
      <Fact name="Address">
        <Copyable text={person.email} label="address" isMono={false} />
      </Fact>
      <Fact name="Name">{nameOf(person) ?? <span className="text-muted">No name</span>}</Fact>
      <Fact name="Joined">
        <Time at={person.created_at} isPrecise />
      </Fact>
      {person.source && <Fact name="Came from">{person.source}</Fact>}
      <Fact name="Score">{person.engagement_score} of 100</Fact>
      <Fact name="Delivered">{counted(stats.delivered, "message")}</Fact>
      {stats.delivered > 0 && (
        <>
          <Fact name="Opened">{rateText(stats.unique_opens, stats.delivered)}</Fact>
          <Fact name="Clicked">{rateText(stats.unique_clicks, stats.delivered)}</Fact>
        </>
      )}
      <Fact name="Id">
        <Copyable text={person.id} label="id of the person" />
      </Fact>
    </Facts>
  );
}
