/** Settings of a list, and the two acts that cannot be undone: emptying and deleting it. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import type { MailingList } from "../../api/lists.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { counted } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";
import { ListForm } from "./list-form.tsx";

/** Above this the name is typed before an act. */
const TYPED_ABOVE = 1_000;

export function ListSettings({ list }: { readonly list: MailingList }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"empty" | "delete">();
  const close = () => setAsked(undefined);
  const empty = useAct({
    run: () => api.removeAllMembers({ id: list.id }),
    changes: ["lists", "list", `members ${list.id}`, "people"],
    done: ({ deleted }) => `${counted(deleted, "person", "people")} are off ${list.name}`,
    onDone: close,
  });
  const remove = useAct({
    run: () => api.deleteMailingList({ id: list.id }),
    changes: ["lists", "people", "segments"],
    done: `${list.name} is deleted`,
    onDone: () => void navigate({ to: `/${workspace.id}/lists` }),
  });
  const people = counted(list.total_subscribers, "person", "people");
  const typed = list.total_subscribers > TYPED_ABOVE ? { typed: list.name } : {};
  return (
    <div className="max-w-xl">
      <ListForm key={list.updated_at} list={list} />
      <div className="mt-8">
        {mayCall(workspace, "removeAllMembers") && (
          <Panel
            title="Empty the list"
            acts={<Button onPress={() => setAsked("empty")}>Empty the list</Button>}
          >
            <p className="text-muted">Removes all people. Fields, segments and the form stay.</p>
          </Panel>
        )}
        {mayCall(workspace, "deleteMailingList") && (
          <Panel
            title="Delete the list"
            acts={<Button onPress={() => setAsked("delete")}>Delete the list</Button>}
          >
            <p className="text-muted">
              It is refused while a campaign to it is scheduled or being sent, or an autoresponder writes to
              it.
            </p>
          </Panel>
        )}
      </div>
      {asked === "empty" && (
        <Question
          title={`Empty ${list.name}?`}
          isOpen
          onClose={close}
          act={`Remove ${people}`}
          onConfirm={() => empty.mutate()}
          isPending={empty.isPending}
          error={empty.error}
          {...typed}
        >
          {people} leave the list. Those on no other list are deleted, with fields and history, and their
          waiting mail is not sent. It cannot be undone.
        </Question>
      )}
      {asked === "delete" && (
        <Question
          title={`Delete ${list.name}?`}
          isOpen
          onClose={close}
          act="Delete the list"
          onConfirm={() => remove.mutate()}
          isPending={remove.isPending}
          error={remove.error}
          {...typed}
        >
          The list goes with its fields, segments and sign-up form. Of its {people}, those on no other list
          are deleted. It cannot be undone.
        </Question>
      )}
    </div>
  );
}
