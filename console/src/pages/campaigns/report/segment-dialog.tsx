/** Saves the recipients who did something as a segment: it has rules, so it follows what they do later. */
import schema from "schema:CampaignSegment";
import type { Data } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/act.ts";
import { useLists } from "../../../api/lists.ts";
import { usePlace } from "../../../api/session.tsx";
import { ActForm, FormActs } from "../../../parts/act-form.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Field } from "../../../parts/field.tsx";
import { type FilterWords, filterText, leftOutOfSegments, segmentFilter } from "./recipient-filter.ts";

const { maxLength } = schema.properties.name ?? {};

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly filter: FilterWords;
  readonly onClose: () => void;
}

export function SegmentDialog({ campaign, filter, onClose }: Props) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const { id, name, mailing_list_id, segment_id } = campaign;
  const save = useAct({
    run: (body: { readonly name: string; readonly list_id?: string }) =>
      api.createSegmentFromCampaign({ id, body: { ...segmentFilter(filter), ...body } }),
    changes: ["segments"],
    done: ({ name: saved }) => `The segment ${saved} is saved`,
    onDone: ({ id: segment, mailing_list_id: list }) =>
      void navigate({ to: `/${workspace.id}/lists/${list}/segments/${segment}` }),
  });
  const hasList = mailing_list_id !== null || segment_id !== null;
  const leftOut = leftOutOfSegments(filter);
  const kept = Object.fromEntries(Object.entries(filter).filter(([word]) => !leftOut.includes(word)));
  return (
    <Dialog title="Make a segment" isOpen onClose={onClose}>
      <ActForm
        act={save}
        onSubmit={({ name: typed = "", list_id }) =>
          save.mutate({ name: typed, ...(list_id && { list_id }) })
        }
      >
        <p className="text-muted">
          {Object.keys(kept).length === 0 ? "All recipients" : `Recipients: ${filterText(kept)}`}, as far as
          they are {kept.unsubscribed === "true" ? "" : "active "}on the list. People who do the same later
          are added.
        </p>
        {leftOut.length > 0 && (
          <p className="text-warning">A segment cannot ask for {leftOut.join(" and ")}; that is left out.</p>
        )}
        <Field
          name="name"
          label="Name"
          defaultValue={`${name}: ${filterText(kept) || "all recipients"}`}
          {...(maxLength !== undefined && { maxLength })}
          isRequired
          autoFocus
        />
        {!hasList && <ListChoice />}
        <FormActs act={save} onCancel={onClose}>
          Save the segment
        </FormActs>
      </ActForm>
    </Dialog>
  );
}

/** A campaign across lists: the segment is of one. */
function ListChoice() {
  const options = (useLists() ?? []).map(({ id, name }) => ({ id, name }));
  return <Choice name="list_id" label="Of the list" options={options} isRequired />;
}
