/** The title of the document is the heading of the page; after a change of page the heading has the focus. */
import { useRouterState } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";

export function usePageHeading(page: RefObject<HTMLElement | null>, workspaceName: string): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const last = useRef<Element>(undefined);
  useEffect(() => {
    const place = page.current;
    if (!place || path === undefined) return;
    const read = () => {
      const heading = place.querySelector("h1");
      const text = heading?.textContent?.trim();
      if (!heading || !text) return;
      document.title = `${text} · ${workspaceName}`;
      if (heading === last.current) return;
      // The first page has the focus where the browser puts it.
      if (last.current) focusOn(heading, place);
      last.current = heading;
    };
    // The heading of a page may wait for the API.
    const observer = new MutationObserver(read);
    observer.observe(place, { childList: true, subtree: true, characterData: true });
    read();
    return () => observer.disconnect();
  }, [path, page, workspaceName]);
}

/** Leaves the focus where the page has put it by itself, such as in a field or a dialog. */
function focusOn(heading: HTMLElement, place: HTMLElement) {
  const { activeElement } = document;
  if (place.contains(activeElement) && activeElement !== place) return;
  if (activeElement?.closest("[role=dialog]")) return;
  heading.tabIndex = -1;
  heading.style.outline = "none";
  heading.focus({ preventScroll: true });
}
