/** Whether the focus is in a frame within an element. Styles cannot tell: to them, a frame of another origin never has it. */
import { useEffect, useRef, useState } from "react";

export function useFrameFocus() {
  const place = useRef<HTMLDivElement>(null);
  const [isFocused, setFocused] = useState(false);
  useEffect(() => {
    const look = () => {
      const { activeElement } = document;
      setFocused(
        activeElement instanceof HTMLIFrameElement && place.current?.contains(activeElement) === true,
      );
    };
    // The focus leaves the window's own document for that of the frame, and comes back to it.
    const abort = new AbortController();
    const { signal } = abort;
    window.addEventListener("blur", look, { signal });
    window.addEventListener("focus", look, { signal });
    document.addEventListener("focusin", look, { signal });
    return () => abort.abort();
  }, []);
  return [place, isFocused] as const;
}
