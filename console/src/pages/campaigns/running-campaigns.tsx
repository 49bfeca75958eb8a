/** Watches the campaigns that are being sent, and has the list loaded again when one of them moves. */
import { useEffect, useRef } from "react";
import { useLive } from "../../api/live.ts";
import { usePlace } from "../../api/session.tsx";

/** A stream has at most 20 topics, and other pages have theirs. */
const MOST_WATCHED = 10;
const AT_MOST_EVERY_MS = 2_000;

export function RunningCampaigns({
  ids,
  onChange,
}: {
  readonly ids: readonly string[];
  readonly onChange: () => void;
}) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      change.current();
    }, AT_MOST_EVERY_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return ids.slice(0, MOST_WATCHED).map((id) => <Watched key={id} id={id} onChange={soon} />);
}

function Watched({ id, onChange }: { readonly id: string; readonly onChange: () => void }) {
  const { workspace } = usePlace();
  const state = useLive<unknown>(workspace.id, `campaign:${id}`);
  const isFirst = useRef(true);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    if (state === undefined) return;
    if (!isFirst.current) change.current();
    isFirst.current = false;
  }, [state]);
  return null;
}
