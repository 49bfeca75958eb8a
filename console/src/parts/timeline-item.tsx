/** An event on a line from the newest to the oldest. */
import type { ReactNode } from "react";
import type { Look } from "./state-mark.tsx";
import { Time } from "./time.tsx";

interface Props {
  readonly look: Look;
  readonly at: string;
  /** What happened, in words. */
  readonly title: ReactNode;
  /** The words of another system, such as the reply of a mail server. */
  readonly quote?: string | null;
  /** Between the title and the quote. */
  readonly facts?: ReactNode;
  readonly children?: ReactNode;
}

export function TimelineItem({ look: { shape, tone }, at, title, quote, facts, children }: Props) {
  return (
    <li className="relative border-l border-line pb-4 pl-5 last:border-transparent">
      <span className="absolute top-0.5 -left-[5px] bg-surface">
        <span aria-hidden className={`block text-[10px] leading-4 ${tone}`}>
          {shape}
        </span>
      </span>
      <p className="flex items-baseline gap-2">
        <span className="min-w-0">{title}</span>
        <span className="ml-auto shrink-0 text-small text-muted">
          <Time at={at} />
        </span>
      </p>
      {facts}
      {quote && (
        <p className="mt-1 rounded bg-sunken px-2.5 py-1.5 font-mono text-small break-words">{quote}</p>
      )}
      {children}
    </li>
  );
}
