/** Asks before a page with unsaved changes is left, also before the tab closes. */
import { useBlocker } from "@tanstack/react-router";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";

export function LeaveQuestion({ isChanged }: { readonly isChanged: boolean }) {
  const leaving = useBlocker({
    // Another view of the same page keeps what was changed.
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  const stay = () => leaving.reset?.();
  return (
    <Dialog title="Leave without saving?" isOpen={leaving.status === "blocked"} onClose={stay}>
      <p className="text-muted">The changes of this page are not saved. They are lost when you leave.</p>
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={() => leaving.proceed?.()}>Leave</Button>
        <Button kind="primary" onPress={stay}>
          Stay
        </Button>
      </div>
    </Dialog>
  );
}
