/** Parts of a page that appear at the same time, so that none moves another. A slow one holds the others up for a moment only. */
import { type ReactNode, useEffect, useState } from "react";

const MOST_WAIT_MS = 1_500;

export function Together({
  isWaiting,
  children,
}: {
  readonly isWaiting: boolean;
  readonly children: ReactNode;
}) {
  const [isShown, setShown] = useState(false);
  if (!isWaiting && !isShown) setShown(true);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), MOST_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  // They are made while they are hidden: a failed request would begin again with each new one of its users.
  return (
    <div aria-busy={!isShown} className={isShown ? "" : "invisible h-0 overflow-hidden"}>
      {children}
    </div>
  );
}
