/** The lists that a person is on: mail on or off for each, and the way on and off a list. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { useLists } from "../../api/lists.ts";
import type { Person } from "../../api/people.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { ActMenu } from "../../parts/act-menu.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Dialog, Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Switch } from "../../parts/toggle.tsx";
import { offerUndo } from "../../parts/undo.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { PersonState, type PersonStatus } from "./person-state.tsx";

type Membership = Person["lists"][number];

const changes = ["person", "people", "findings", "lists", "list"];

export function PersonLists({ person }: { readonly person: Person }) {
  const { workspace } = usePlace();
  const [isAdding, setAdding] = useState(false);
  return (
    <Panel
      title="Lists"
      acts={mayCall(workspace, "addMember") && <Button onPress={() => setAdding(true)}>Add to a list</Button>}
    >
      <ul>
        {person.lists.map((list) => (
          <MembershipRow key={list.mailing_list_id} person={person} list={list} />
        ))}
      </ul>
      {isAdding && <AddToList person={person} onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function MembershipRow({ person, list }: { readonly person: Person; readonly list: Membership }) {
  const { api, workspace } = usePlace();
  const [isAsking, setAsking] = useState(false);
  const { mailing_list_id: id, name, status, subscribed_at, unsubscribed_at, source } = list;
  const set = useAct({
    run: (next: PersonStatus) =>
      api.setMemberStatus({ id, subscriber_id: person.id, body: { status: next } }),
    changes,
    done: ({ status: now }) => `${now} on ${name}`,
  });
  const turn = (isOn: boolean) =>
    set.mutate(isOn ? "active" : "unsubscribed", {
      onSuccess: ({ status: now }) => offerUndo(`${now} on ${name}`, () => set.mutate(status)),
    });
  const mayWrite = mayCall(workspace, "setMemberStatus");
  return (
    <li className="flex min-h-13 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line/60 py-2 last:border-transparent">
      <div className="min-w-0 flex-1 basis-40">
        <PlaceLink to={`lists/${id}`} className="block truncate text-accent hover:underline">
          {name}
        </PlaceLink>
        <p className="text-small text-muted">
          {unsubscribed_at && status === "unsubscribed" ? (
            <>
              Left <Time at={unsubscribed_at} />
            </>
          ) : (
            <>
              Joined <Time at={subscribed_at} />
              {source && ` by ${source}`}
            </>
          )}
        </p>
      </div>
      <PersonState status={status} />
      {mayWrite && (
        <Switch
          aria-label={`Mail to ${name}`}
          isSelected={status === "active"}
          onChange={turn}
          isDisabled={set.isPending}
        >
          Gets mail
        </Switch>
      )}
      {mayCall(workspace, "removeMember") && (
        <ActMenu
          label={`More about ${name}`}
          acts={[{ name: "Remove from the list", run: () => setAsking(true), isDanger: true }]}
        />
      )}
      {set.error && <Failure error={set.error} />}
      {set.data && set.data.status === "active" && set.data.warnings.length > 0 && (
        <p role="status" className="basis-full text-small text-warning">
          Active, but no mail reaches this person: {set.data.warnings.join(", ")}.
        </p>
      )}
      {isAsking && <RemoveFromList person={person} list={list} onClose={() => setAsking(false)} />}
    </li>
  );
}

function RemoveFromList({
  person,
  list,
  onClose,
}: {
  readonly person: Person;
  readonly list: Membership;
  readonly onClose: () => void;
}) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const isLast = person.lists.length === 1;
  const remove = useAct({
    run: () => api.removeMember({ id: list.mailing_list_id, subscriber_id: person.id }),
    changes: isLast ? ["people", "lists", "list"] : changes,
    done: isLast ? `${person.email} is deleted` : `${person.email} is off ${list.name}`,
    onDone: () => (isLast ? void navigate({ to: `/${workspace.id}/people` }) : onClose()),
  });
  return (
    <Question
      title={`Remove ${person.email} from ${list.name}?`}
      isOpen
      onClose={onClose}
      act={isLast ? "Delete the person" : "Remove from the list"}
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      {isLast
        ? "It is the last list of this person: the person is deleted, with fields and history."
        : "It leaves no trace: a later import would add the person again. To remember that the person wants no mail, switch the mail off instead."}
    </Question>
  );
}

function AddToList({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const { api } = usePlace();
  const lists = useLists() ?? [];
  const others = lists.filter(({ id }) => person.lists.every((one) => one.mailing_list_id !== id));
  const [listId, setListId] = useState<string>();
  const add = useAct({
    run: (id: string) => api.addMember({ id, body: { email: person.email } }),
    changes,
    done: `${person.email} is added`,
    onDone: onClose,
  });
  return (
    <Dialog title={`Add ${person.email} to a list`} isOpen onClose={onClose}>
      {others.length === 0 ? (
        <p className="text-muted">The person is on every list.</p>
      ) : (
        <Choice
          label="List"
          options={others}
          value={listId ?? null}
          onChange={(id) => setListId(String(id))}
        />
      )}
      {add.error && <Failure error={add.error} />}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={onClose}>Cancel</Button>
        {listId !== undefined && (
          <Button kind="primary" onPress={() => add.mutate(listId)} isPending={add.isPending}>
            Add
          </Button>
        )}
      </div>
    </Dialog>
  );
}
