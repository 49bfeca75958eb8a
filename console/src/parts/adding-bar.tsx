/** A bar whose parts add up to a whole, with a legend that names every part and its number. */
import type { ReactNode } from "react";
import { countText } from "./numbers.ts";
import type { Look } from "./state-mark.tsx";

export interface BarPart {
  readonly name: string;
  readonly count: number;
  /** The shape and colour of the legend. */
  readonly look: Look;
  /** The colour of the bar, a class. */
  readonly fill: string;
  /** In place of the plain number, such as a link to what it counts. */
  readonly number?: ReactNode;
  /** What the part consists of, below it. */
  readonly detail?: ReactNode;
}

interface Props {
  readonly label: string;
  readonly parts: readonly BarPart[];
}

export function AddingBar({ label, parts }: Props) {
  const shown = parts.filter(({ count }) => count > 0);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  return (
    <figure aria-label={label}>
      <div aria-hidden className="flex h-3 gap-0.5 overflow-hidden rounded-control bg-sunken">
        {shown.map(({ name, count, fill }) => (
          <span
            key={name}
            style={{ flexGrow: count / total }}
            className={`min-w-1 basis-0 transition-[flex-grow] duration-100 ${fill}`}
          />
        ))}
      </div>
      <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-3">
        {shown.map(({ name, count, look: { shape, tone }, number, detail }) => (
          <div key={name}>
            <dt className="flex items-center gap-1.5 whitespace-nowrap text-muted">
              <span aria-hidden className={`${tone} text-[10px] leading-none`}>
                {shape}
              </span>
              {name}
            </dt>
            <dd className="text-[17px] font-semibold">{number ?? countText(count)}</dd>
            {detail && <dd className="text-small text-muted">{detail}</dd>}
          </div>
        ))}
      </dl>
    </figure>
  );
}
