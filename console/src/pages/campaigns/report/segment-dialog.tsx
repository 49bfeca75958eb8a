/** Saves the recipients who did something as a segment: it has rules, so it follows what they do later. */
import schema from "schema:CampaignSegment";
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { Field } from "../../../parts/field.tsx";
import { textIn } from "../../../parts/text-in-form.ts";
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
      <Form
        validationErrors={fieldErrors(save.error)}
        onSubmit={(event) => {
          event.preventDefault();
          const list = textIn(event.currentTarget, "list_id");
          save.mutate({ name: textIn(event.currentTarget, "name"), ...(list !== "" && { list_id: list }) });
        }}
        className="flex flex-col gap-4"
      >
        <p className="text-muted">
          {Object.keys(kept).length === 0 ? "All recipients" : `Recipients: ${filterText(kept)}`}, as far as
          they are active on the list. Who does the same later is in it, too.
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
        {save.error && <Failure error={save.error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button onPress={onClose}>Close</Button>
          <Button type="submit" kind="primary" isPending={save.isPending}>
            Save the segment
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** A campaign across lists: the segment is of one. */
function ListChoice() {
  const { api, workspace } = usePlace();
  const { data } = useQuery({
    queryKey: ["lists", workspace.id, "to choose from"],
    queryFn: ({ signal }) => api.listMailingLists({ signal }),
  });
  const options = (data ?? []).map(({ id, name }) => ({ id, name }));
  return <Choice name="list_id" label="Of the list" options={options} isRequired />;
}
