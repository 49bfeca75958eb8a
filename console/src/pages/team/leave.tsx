/** The question before one leaves a workspace. */
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { Question } from "../../parts/dialog.tsx";

interface Props {
  readonly workspace: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}

export function Leave({ workspace: { id, name }, onClose }: Props) {
  const leave = useAct({
    run: () => apiOf(undefined).leaveWorkspace({ id }),
    changes: [],
    done: `You have left ${name}`,
    onDone: () => location.assign("/console/"),
  });
  return (
    <Question
      title={`Leave ${name}?`}
      isOpen
      onClose={onClose}
      act="Leave"
      onConfirm={() => leave.mutate()}
      isPending={leave.isPending}
      error={leave.error}
    >
      You can no longer open this workspace. You keep your account, and a member of the team can invite you
      again.
    </Question>
  );
}
