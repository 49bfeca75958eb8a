/** Erases a person who asks for it: what goes, what stays and why. */
import body from "schema:SubscriberErasure";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import type { Person } from "../../api/people.ts";
import { usePlace } from "../../api/session.tsx";
import { Question } from "../../parts/dialog.tsx";
import { counted } from "../../parts/numbers.ts";
import { Checkbox } from "../../parts/toggle.tsx";

export function EraseDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  const [suppress, setSuppress] = useState(true);
  const erase = useAct({
    run: () => api.eraseSubscriber({ id: person.id, body: { suppress } }),
    changes: ["people", "jobs"],
    done: `${person.email} is being erased; the jobs tell when it is done`,
    onDone: () => void navigate({ to: `/${workspace.id}/people` }),
  });
  return (
    <Question
      title={`Erase ${person.email}?`}
      isOpen
      onClose={onClose}
      act="Erase for ever"
      onConfirm={() => erase.mutate()}
      isPending={erase.isPending}
      error={erase.error}
    >
      <p>
        Deleted: the person on {counted(person.lists.length, "list")}, names, fields and history, the address,
        replies and clicked links of {counted(person.stats.sent, "message")} in the log. Waiting messages are
        cancelled.
      </p>
      <p className="mt-2">
        Kept: counts without the person, so that reports stay right, and entries on suppression lists, so that
        no mail reaches the address.
      </p>
      <div className="mt-4 text-text">
        <Checkbox isSelected={suppress} onChange={setSuppress}>
          Suppress the address
          <span className="block text-small text-muted">{body.properties.suppress?.description}</span>
        </Checkbox>
      </div>
    </Question>
  );
}
