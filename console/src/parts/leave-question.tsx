/** Asks before a page with unsaved changes is left, also before the tab closes. */
import { useBlocker } from "@tanstack/react-router";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  readonly isChanged: boolean;
  readonly title?: string;
  /** What is lost. */
  readonly children?: string;
}

export function LeaveQuestion({
  isChanged,
  title = "Leave without saving?",
  children = "The changes of this page are not saved. They are lost when you leave.",
}: Props) {
  const leaving = useBlocker({
    // Another view of the same page keeps what was changed.
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  const stay = () => leaving.reset?.();
  return (
    <Dialog title={title} isOpen={leaving.status === "blocked"} onClose={stay}>
      <p className="text-muted">{children}</p>
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={() => leaving.proceed?.()}>Leave</Button>
        <Button kind="primary" onPress={stay}>
          Stay
        </Button>
      </div>
    </Dialog>
  );
}
