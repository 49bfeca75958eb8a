/** What was done and can be taken back for some seconds, at the bottom of the page. */
import { useSyncExternalStore } from "react";
import { Button } from "./button.tsx";
import { say } from "./live-region.ts";

interface Offer {
  readonly text: string;
  readonly undo: () => void;
}

const OFFERED_MS = 8_000;

class Offers {
  #offer: Offer | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  readonly current = () => this.#offer;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  show(offer: Offer | undefined) {
    clearTimeout(this.#timer);
    this.#offer = offer;
    if (offer) this.#timer = setTimeout(() => this.show(undefined), OFFERED_MS);
    for (const listener of this.#listeners) listener();
  }
}

const offers = new Offers();

/** Says what was done and offers to undo it for eight seconds. */
export function offerUndo(text: string, undo: () => void): void {
  say(`${text}. Undo is at the end of the page.`);
  offers.show({ text, undo });
}

export function UndoBar() {
  const offer = useSyncExternalStore(offers.subscribe, offers.current);
  if (!offer) return null;
  return (
    <section
      aria-label="Undo"
      className="fixed bottom-4 left-1/2 z-30 flex -translate-x-1/2 items-center gap-3 rounded-panel bg-text py-1.5 pr-1.5 pl-4 text-surface shadow-overlay"
    >
      <span>{offer.text}</span>
      <Button
        kind="quiet"
        className="text-surface hover:bg-surface/20 hover:text-surface"
        onPress={() => {
          offers.show(undefined);
          offer.undo();
        }}
      >
        Undo
      </Button>
    </section>
  );
}
