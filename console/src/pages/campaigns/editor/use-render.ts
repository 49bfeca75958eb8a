/** The mail of a draft as it would be sent, rendered again after the last key. A newer order aborts the one before. */
import { type Body, type Data, PosthasteError } from "@posthaste/client";
import { useEffect, useRef, useState } from "react";
import { usePlace } from "../../../api/session.tsx";

export type Order = Body<"renderContent">;
export type Rendered = Data<"renderContent">;

export interface Rendering {
  readonly mail: Rendered | undefined;
  /** The part of the mail that is being written. */
  readonly anchor: string | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
}

const nothing: Rendering = { mail: undefined, anchor: undefined, error: undefined, isStale: false };
const AFTER_KEY_MS = 150;
const RETRY_MS = 3_000;
/** Addresses of previews work for five minutes. */
const RENEWED_MS = 4 * 60_000;

/**
 * @param order undefined while there is nothing to render
 * @param anchored the HTML with an id where it is edited, asked at the moment of rendering
 */
export function useRender(
  order: Order | undefined,
  anchored: () => { readonly text: string; readonly id: string | undefined } | undefined,
): Rendering & { readonly again: () => void } {
  const { api } = usePlace();
  const [rendering, setRendering] = useState(nothing);
  const [round, setRound] = useState(0);
  const isFirst = useRef(true);
  const text = useRef(anchored);
  text.current = anchored;
  const wanted = order && JSON.stringify(order);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a round renders the same order again
  useEffect(() => {
    if (wanted === undefined) return setRendering(nothing);
    const abort = new AbortController();
    setRendering((former) => ({ ...former, isStale: true }));
    const render = async () => {
      const body = JSON.parse(wanted) as Order;
      const edited = isFirst.current ? undefined : text.current();
      isFirst.current = false;
      const html = edited?.text === undefined || edited.id === undefined ? {} : { html_content: edited.text };
      try {
        const mail = await api.renderContent({ body: { ...body, ...html }, signal: abort.signal });
        setRendering({ mail, anchor: edited?.id, error: undefined, isStale: false });
      } catch (error) {
        if (abort.signal.aborted) return;
        setRendering((former) => ({ ...former, error, isStale: false }));
        if (isBusy(error)) renewed = later(RETRY_MS);
      }
    };
    const later = (ms: number) => setTimeout(() => setRound((former) => former + 1), ms);
    const first = setTimeout(() => void render(), AFTER_KEY_MS);
    let renewed = later(RENEWED_MS);
    return () => {
      abort.abort();
      clearTimeout(first);
      clearTimeout(renewed);
    };
  }, [api, wanted, round]);
  return { ...rendering, again: () => setRound((former) => former + 1) };
}

/** The service does not answer or has too much to do, so that the same order may succeed later. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof PosthasteError)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}
