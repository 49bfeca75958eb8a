/** One of the people: their role, changing it, removing them; for oneself leaving. */
import type { Schema } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { offerUndo } from "../../parts/undo.tsx";
import { Leave } from "./leave.tsx";
import { obstacleTo, RoleChoice, useRoles } from "./role-choice.tsx";

export function TeammateRow({ teammate }: { readonly teammate: Schema<"Teammate"> }) {
  const { api, session, workspace } = usePlace();
  const { data: roles } = useRoles();
  const [isLeaving, setLeaving] = useState(false);
  const [ownNext, setOwnNext] = useState<string>();
  const { id, name, email, role, role_name, joined_at, is_disabled, last_seen_at } = teammate;
  const isMe = id === session.person.id;
  const change = useAct({
    run: (next: string) => api.updateTeammate({ id, body: { role: next } }),
    changes: ["team", "roles", "session"],
    done: (changed) => `${name} has the role ${changed.role_name}`,
    onDone: () => setOwnNext(undefined),
  });
  const held = roles?.find((one) => one.id === role);
  const isOpen =
    mayCall(workspace, "updateTeammate") && held !== undefined && obstacleTo(workspace, held) === undefined;
  const choose = (next: string) => {
    if (next === role) return;
    if (isMe) return setOwnNext(next);
    change.mutate(next, {
      onSuccess: (changed) =>
        offerUndo(`${name} has the role ${changed.role_name}`, () => change.mutate(role)),
    });
  };
  const nextName = roles?.find((one) => one.id === ownNext)?.name;
  return (
    <li className="flex min-h-14 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line/60 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate font-medium">
          {name} {isMe && <span className="font-normal text-muted">(you)</span>}
        </p>
        <p className="text-muted [overflow-wrap:anywhere]">
          {email} · joined <Time at={joined_at} />
          {!isMe && last_seen_at && (
            <>
              {" "}
              · last here <Time at={last_seen_at} />
            </>
          )}
        </p>
      </div>
      {is_disabled && <StateMark shape="■" tone="text-muted" word="disabled by the operator" />}
      {isOpen ? (
        <div className="w-40">
          <RoleChoice label={`Role of ${name}`} isBare value={role} onChange={choose} />
        </div>
      ) : (
        <span className="w-40 px-3 text-muted">{role_name}</span>
      )}
      <div className="flex w-20 justify-end">
        {(isMe || isOpen) && (
          <Button
            kind="quiet"
            aria-label={isMe ? "Leave the workspace" : `Remove ${name}`}
            onPress={() => setLeaving(true)}
          >
            {isMe ? "Leave" : "Remove"}
          </Button>
        )}
      </div>
      {change.error && !isMe && (
        <div className="w-full">
          <Failure error={change.error} />
        </div>
      )}
      <Question
        title={`Change your own role to ${nextName}?`}
        isOpen={ownNext !== undefined}
        onClose={() => setOwnNext(undefined)}
        act={`Become ${nextName}`}
        onConfirm={() => ownNext !== undefined && change.mutate(ownNext)}
        isPending={change.isPending}
        error={change.error}
      >
        You keep only what that role may do. Only another member can give you more again.
      </Question>
      {isLeaving &&
        (isMe ? (
          <Leave workspace={workspace} onClose={() => setLeaving(false)} />
        ) : (
          <Remove teammate={teammate} onClose={() => setLeaving(false)} />
        ))}
    </li>
  );
}

function Remove({
  teammate: { id, name },
  onClose,
}: {
  readonly teammate: Schema<"Teammate">;
  readonly onClose: () => void;
}) {
  const { api } = usePlace();
  const remove = useAct({
    run: () => api.removeTeammate({ id }),
    changes: ["team", "roles", "invitations"],
    done: `${name} is no longer in the team`,
    onDone: onClose,
  });
  return (
    <Question
      title={`Remove ${name}?`}
      isOpen
      onClose={onClose}
      act="Remove"
      onConfirm={() => remove.mutate()}
      isPending={remove.isPending}
      error={remove.error}
    >
      {name} can no longer open this workspace, and the invitations that they sent end. What they made stays.
    </Question>
  );
}
