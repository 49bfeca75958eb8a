/** When the records are looked up again, and the button that does it now. */
import { RefreshCw } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { useRecheck } from "./use-recheck.ts";

interface Props {
  readonly isDone: boolean;
  readonly isLooking: boolean;
  readonly lookedAt: number;
  readonly look: () => void;
  readonly onPress: () => void;
}

export function CheckAgain({ onPress, ...look }: Props) {
  const { next, pause, press } = useRecheck(look);
  return (
    <>
      <Button
        kind="primary"
        isPending={look.isLooking}
        isDisabled={pause > 0 && !look.isLooking}
        onPress={() => {
          press();
          onPress();
        }}
        className="min-w-36"
      >
        <RefreshCw size={15} aria-hidden className={look.isLooking ? "animate-spin" : ""} />
        {look.isLooking ? "Checking" : pause > 0 ? `Again in ${pause} s` : "Check now"}
      </Button>
      <span className="text-muted">
        {look.isDone
          ? "All records are published."
          : next === undefined
            ? "Asking the name servers …"
            : `Checks by itself in ${durationText(next)}.`}
      </span>
    </>
  );
}

function durationText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
