/** Coming back from another tab, where the person may have signed in or confirmed meanwhile. */
import { useEffect, useRef } from "react";
import { openApi } from "../../api/client.ts";
import type { Session } from "../../api/session.tsx";

export function useReturn(onSession: (session: Session) => unknown): void {
  const current = useRef(onSession);
  current.current = onSession;
  useEffect(() => {
    const look = () => {
      void openApi.getSession().then(
        (session) => current.current(session),
        () => undefined,
      );
    };
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, []);
}
