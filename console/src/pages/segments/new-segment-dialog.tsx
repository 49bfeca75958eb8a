/** A segment is of one list: which? */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { listsQuery } from "../../api/lists.ts";
import { usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { Picker } from "../../parts/picker.tsx";

export function NewSegmentDialog({ onClose }: { readonly onClose: () => void }) {
  const place = usePlace();
  const { workspace } = place;
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(listsQuery(place));
  const [listId, setListId] = useState("");
  const options = (data ?? []).map(({ id, name, subscriber_count }) => ({
    id,
    name,
    description: counted(subscriber_count, "active member"),
  }));
  const open = (id: string) => navigate({ to: `/${workspace.id}/lists/${id}/segments/new` });
  return (
    <Dialog title="New segment" isOpen onClose={onClose}>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data?.length === 0 ? (
        <p>
          There is no list yet.{" "}
          <Link to={`/${workspace.id}/lists`} className="text-accent hover:underline">
            Make a list first
          </Link>
          .
        </p>
      ) : (
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            if (listId !== "") void open(listId);
          }}
          className="flex flex-col gap-4"
        >
          <Picker
            label="List"
            hint="The segment selects among the people of this list."
            options={options}
            value={listId}
            onChange={setListId}
            isRequired
            autoFocus
          />
          <div className="mt-2 flex justify-end gap-2">
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" kind="primary">
              Write the rules
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
