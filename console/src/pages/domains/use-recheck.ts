/** Looks again by itself: soon after a look, then less often, until all is well. The clock is for showing. */
import { useEffect, useState } from "react";

const STEPS_S = [5, 15, 60, 300] as const;
/** Name servers need a moment, and other servers are not to be asked in a row. */
const PAUSE_S = 10;

interface Look {
  /** When the last look ended, in milliseconds; 0 before the first. */
  readonly lookedAt: number;
  readonly isLooking: boolean;
  readonly isDone: boolean;
  readonly look: () => void;
}

/** @returns seconds until the next look, undefined if there is none, and until the button works again */
export function useRecheck({ lookedAt, isLooking, isDone, look }: Look) {
  const [step, setStep] = useState(0);
  const [pressedAt, setPressedAt] = useState(0);
  const now = useSeconds();
  const every = STEPS_S[Math.min(step, STEPS_S.length - 1)] ?? PAUSE_S;
  const isWaiting = !isDone && !isLooking && lookedAt > 0;
  const next = isWaiting ? Math.max(0, every - (now - lookedAt) / 1_000) : undefined;
  const isDue = next === 0 && document.visibilityState === "visible";
  useEffect(() => {
    if (!isDue) return;
    setStep((former) => former + 1);
    look();
  }, [isDue, look]);
  return {
    next: next === undefined ? undefined : Math.ceil(next),
    pause: Math.max(0, Math.ceil(PAUSE_S - (now - pressedAt) / 1_000)),
    /** To be called when the person looks. */
    press: () => {
      setStep(0);
      setPressedAt(Date.now());
    },
  };
}

function useSeconds(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
