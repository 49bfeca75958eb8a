/**
 * Keeps the focus on the page when what has it goes: a row that was deleted, a button whose act has ended. What was around it gets the
 * focus, so that Tab goes on there.
 */
import { useEffect } from "react";

/** Dialogs give the focus back by themselves in this time. */
const SETTLED_MS = 150;
const places = "section, form, aside, [role=group], [role=tabpanel], [role=dialog]";

export function useKeptFocus(): void {
  useEffect(() => {
    const kept = new KeptFocus();
    const observer = new MutationObserver(kept.look);
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener("focusin", kept.note);
    return () => {
      observer.disconnect();
      document.removeEventListener("focusin", kept.note);
      kept.end();
    };
  }, []);
}

class KeptFocus {
  /** What had the focus last, and all around it, from the inside. */
  #around: readonly Element[] = [];
  #timer: number | undefined;

  readonly note = (event: FocusEvent) => {
    this.#around = event.composedPath().filter((one) => one instanceof Element);
  };

  readonly look = () => {
    if (this.#isLost()) this.#timer ??= window.setTimeout(this.#restore, SETTLED_MS);
  };

  end(): void {
    window.clearTimeout(this.#timer);
  }

  #isLost(): boolean {
    const isNowhere = document.activeElement === null || document.activeElement === document.body;
    return isNowhere && this.#around[0]?.isConnected === false;
  }

  readonly #restore = () => {
    this.#timer = undefined;
    if (!this.#isLost()) return;
    const around = this.#around.find((one) => one.isConnected && one.matches(places));
    const place = around ?? document.querySelector("main h1");
    if (!(place instanceof HTMLElement)) return;
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  };
}
