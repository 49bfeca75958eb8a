/** The editor of a segment: its name, its rules with their counts, who is in it, and its conditions as JSON. */

import schema from "schema:NewSegment";
import type { Schema } from "@posthaste/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Field } from "../../parts/field.tsx";
import { useKeys } from "../../parts/keys.ts";
import { LeaveQuestion } from "../../parts/leave-question.tsx";
import { Page } from "../../parts/page.tsx";
import { type Conditions, draftOf, faultsByRule } from "../../parts/segment-builder/draft.ts";
import { useConditions, useSegmentFields } from "../../parts/segment-builder/queries.ts";
import { SegmentBuilder } from "../../parts/segment-builder/segment-builder.tsx";
import { SegmentCount } from "../../parts/segment-builder/segment-count.tsx";
import { SegmentSentence } from "../../parts/segment-builder/sentence.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { PlaceLink } from "../../shell/place-link.tsx";
import { UsersOf } from "../lists/used-by.tsx";
import { ConditionsJson } from "./conditions-json.tsx";
import { SegmentActs } from "./segment-acts.tsx";
import { membersKey, SegmentMembers } from "./segment-members.tsx";

type Beginning = Pick<Schema<"Segment">, "name" | "description" | "conditions">;

interface Props {
  readonly listId: string;
  readonly listName: string;
  /** Undefined for a new one. */
  readonly saved?: Schema<"SegmentInUse">;
  readonly begin?: Beginning;
}

interface Input {
  readonly name: string;
  readonly description: string;
  readonly conditions: Conditions;
}

export function SegmentEditor({ listId, listName, saved, begin }: Props) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [name, setName] = useState(begin?.name ?? "");
  const [description, setDescription] = useState(begin?.description ?? "");
  const [draft, setDraft] = useState(() => draftOf(begin?.conditions));
  const [isAsked, setAsked] = useState(false);
  const read = useConditions(listId, draft);
  const state = JSON.stringify([name, description, read?.conditions ?? null, read?.unfinished ?? 0]);
  // As it was saved: read in the same words as what is edited.
  const [before, setBefore] = useState<string>();
  if (saved && read && before === undefined) setBefore(state);
  const isBegun = saved
    ? before !== undefined && state !== before
    : name !== "" || read?.conditions !== undefined;
  const isChanged = read !== undefined && isBegun;
  const mayWrite = mayCall(workspace, saved ? "updateSegment" : "createSegment");

  const save = useAct({
    run: (body: Input) =>
      saved
        ? api.updateSegment({ id: listId, segment_id: saved.id, body })
        : api.createSegment({ id: listId, body }),
    changes: ["segments", "segment", ...(saved ? [membersKey(saved.id)] : [])],
    done: (segment) => `The segment ${segment.name} is saved`,
    onDone: (segment) => {
      setBefore(state);
      if (saved) return;
      void navigate({
        to: `/${workspace.id}/lists/${listId}/segments/${segment.id}`,
        replace: true,
        ignoreBlocker: true,
      });
    },
  });
  // What stands below the rules would move when their fields come.
  const isWaiting = useSegmentFields(listId).isPending;
  const missing =
    read?.conditions === undefined ? "A segment needs a finished rule." : unfinishedText(read.unfinished);
  const submit = () => {
    setAsked(true);
    if (!read?.conditions || missing !== undefined || name.trim() === "") return;
    save.mutate({ name, description, conditions: read.conditions });
  };
  useKeys(mayWrite ? { "mod+s": { name: "Save the segment", group: "Page", run: submit } } : {});
  const faults = faultsByRule(save.error, save.variables?.conditions);
  const errors = fieldErrors(save.error);
  const isAtField = faults.size > 0 || "name" in errors || "description" in errors;

  const rules = () =>
    isWaiting ? (
      <div aria-busy="true" className="h-screen" />
    ) : (
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_280px]">
        <div className="min-w-0">
          {read?.conditions && (
            <p className="mb-4 text-[15px] leading-6">
              <SegmentSentence listId={listId} listName={listName} draft={draft} />
            </p>
          )}
          <SegmentBuilder
            listId={listId}
            listName={listName}
            value={draft}
            onChange={setDraft}
            faults={faults}
            ownId={saved?.id}
          />
          {isAsked && missing && (
            <p role="alert" className="mt-3 text-bad">
              {missing}
            </p>
          )}
        </div>
        <aside aria-label="Who is selected" className="lg:sticky lg:top-4 lg:self-start">
          <SegmentCount listId={listId} value={draft} />
          {saved && saved.used_by.total > 0 && (
            <section aria-labelledby="used-by" className="mt-6">
              <h2 id="used-by" className="mb-1 font-medium">
                Used by
              </h2>
              <UsersOf usedBy={saved.used_by} />
            </section>
          )}
        </aside>
      </div>
    );
  const views = [
    { id: "rules", name: "Rules", content: rules },
    ...(saved && mayCall(workspace, "listSegmentMembers")
      ? [
          {
            id: "members",
            name: "People",
            content: () => <SegmentMembers listId={listId} segmentId={saved.id} isChanged={isChanged} />,
          },
        ]
      : []),
    { id: "json", name: "JSON", content: () => <ConditionsJson conditions={read?.conditions} /> },
  ];
  return (
    <Page
      title={saved?.name ?? "New segment"}
      acts={
        <>
          {mayWrite && (
            <Button kind="primary" onPress={submit} isPending={save.isPending}>
              {saved ? "Save" : "Save the segment"}
            </Button>
          )}
          {saved && <SegmentActs segment={saved} />}
        </>
      }
    >
      <p className="-mt-3 mb-4 flex flex-wrap gap-x-1.5 text-muted">
        <Link to={`/${workspace.id}/segments`} className="text-accent hover:underline">
          Segments
        </Link>
        of
        <PlaceLink to={`lists/${listId}`} className="text-accent hover:underline">
          {listName}
        </PlaceLink>
        {saved && isChanged && mayWrite && <span className="ml-2">Not saved yet</span>}
      </p>
      {!mayWrite && (
        <p className="mb-4 text-muted">
          Your role ({workspace.role.name}) may not change segments. You can try other rules here; they are
          not saved.
        </p>
      )}
      {save.error && !isAtField ? <Failure error={save.error} /> : null}
      <Form
        validationErrors={errors}
        onSubmit={(event) => event.preventDefault()}
        className="mb-6 grid gap-4 sm:grid-cols-2"
      >
        <Field
          name="name"
          label="Name"
          value={name}
          onChange={setName}
          maxLength={schema.properties.name?.maxLength ?? 0}
          isInvalid={isAsked && name.trim() === ""}
          errorMessage="A segment needs a name."
          isReadOnly={!mayWrite}
          autoFocus={!saved}
        />
        <Field
          name="description"
          label="Description"
          value={description}
          onChange={setDescription}
          maxLength={schema.properties.description?.maxLength ?? 0}
          isReadOnly={!mayWrite}
        />
      </Form>
      <Tabs label="Views of the segment" views={views} />
      <LeaveQuestion isChanged={isChanged && mayWrite && !save.isPending} />
    </Page>
  );
}

function unfinishedText(count: number): string | undefined {
  if (count === 0) return undefined;
  return count === 1
    ? "One rule is not finished: finish it or remove it."
    : `${count} rules are not finished: finish or remove them.`;
}
