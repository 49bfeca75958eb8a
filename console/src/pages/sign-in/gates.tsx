/** The dialogs that calls wait for (api/gate.ts), loaded when the first one opens. */
import { lazy, Suspense } from "react";
import { useHurdle } from "../../api/gate.ts";

const SessionEnded = lazy(async () => ({ default: (await import("./session-ended.tsx")).SessionEnded }));
const Confirmation = lazy(async () => ({ default: (await import("./confirmation.tsx")).Confirmation }));

export function Gates() {
  const hasSessionEnded = useHurdle("session");
  const isConfirmationAsked = useHurdle("confirmation");
  return (
    <Suspense>
      {isConfirmationAsked && <Confirmation />}
      {hasSessionEnded && <SessionEnded />}
    </Suspense>
  );
}
