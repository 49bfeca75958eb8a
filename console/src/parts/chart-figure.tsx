/**
 * What every chart has around its drawing: a title, a sentence that says what it shows, the same numbers as a table and as a CSV
 * file, and points that arrow keys and the pointer walk.
 */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useId, useState } from "react";
import { Button } from "./button.tsx";
import { saveCsv } from "./csv-file.ts";
import { countText } from "./numbers.ts";

export interface ChartPoint {
  /** When it is, in words. */
  readonly label: string;
  /** One for each series. */
  readonly values: readonly number[];
}

interface Props {
  readonly title: string;
  readonly summary: string;
  /** What a point is, above its column: "Day". */
  readonly pointName: string;
  readonly series: readonly { readonly name: string }[];
  readonly points: readonly ChartPoint[];
  readonly children: ReactNode;
}

export function ChartFigure({ title, summary, pointName, series, points, children }: Props) {
  const [isTable, setTable] = useState(false);
  const id = useId();
  const head = [pointName, ...series.map(({ name }) => name)];
  const save = () => saveCsv(title, [head, ...points.map(({ label, values }) => [label, ...values])]);
  return (
    <figure aria-labelledby={`${id}-title`} aria-describedby={`${id}-summary`}>
      <figcaption className="flex flex-wrap items-center gap-x-2">
        <h2 id={`${id}-title`} className="min-w-48 flex-1 text-[15px] font-semibold">
          {title}
        </h2>
        <Button kind="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? "Show as chart" : "Show as table"}
        </Button>
        <Button kind="quiet" onPress={save} aria-label={`CSV of ${title}`}>
          CSV
        </Button>
        <p id={`${id}-summary`} className="w-full text-muted">
          {summary}
        </p>
      </figcaption>
      {isTable ? <PointTable title={title} head={head} points={points} /> : children}
    </figure>
  );
}

function PointTable({
  title,
  head,
  points,
}: {
  readonly title: string;
  readonly head: readonly string[];
  readonly points: readonly ChartPoint[];
}) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0} // oxlint-disable-line jsx-a11y/no-noninteractive-tabindex -- as above
      aria-label={`${title}, as a table`}
      className="mt-3 max-h-72 overflow-auto"
    >
      <table aria-label={title} className="w-full text-table">
        <thead>
          <tr>
            {head.map((name, index) => (
              <th
                key={name}
                scope="col"
                className={`sticky top-0 h-8 bg-surface text-small font-medium text-muted ${index === 0 ? "text-left" : "pl-4 text-right"}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ label, values }) => (
            <tr key={label} className="border-t border-line/60">
              <th scope="row" className="h-7 text-left font-normal whitespace-nowrap">
                {label}
              </th>
              {values.map((value, index) => (
                <td key={head[index + 1]} className="pl-4 text-right">
                  {countText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface WalkProps {
  readonly label: string;
  /** The place of the chosen point, of `count`. */
  readonly at: number;
  readonly count: number;
  /** What is said of the chosen point. */
  readonly text: string;
  /** @param at undefined when the pointer has left */
  readonly onMove: (at: number | undefined) => void;
  /** The point at a distance in pixels from the left. */
  readonly pointAt: (px: number) => number;
  readonly place: (element: HTMLElement | null) => (() => void) | undefined;
  readonly children: ReactNode;
}

/** The drawing, whose points arrow keys and the pointer walk. */
export function Walk({ label, at, count, text, onMove, pointAt, place, children }: WalkProps) {
  const last = count - 1;
  const move = (to: number) => onMove(Math.max(0, Math.min(last, to)));
  const walk = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  };
  const point = ({ clientX, currentTarget }: PointerEvent<HTMLElement>) =>
    move(pointAt(clientX - currentTarget.getBoundingClientRect().left));
  return (
    <div
      ref={place}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={text}
      onKeyDown={walk}
      onPointerMove={point}
      onPointerLeave={() => onMove(undefined)}
      className="overflow-hidden rounded-control"
    >
      {children}
    </div>
  );
}

const short = new Intl.NumberFormat("en", { notation: "compact" });

/** Lines across the drawing with their numbers at the left. */
export function Ticks({
  scale,
  count,
  left,
  width,
}: {
  readonly scale: { (value: number): number; readonly ticks: (count: number) => number[] };
  readonly count: number;
  readonly left: number;
  readonly width: number;
}) {
  return scale
    .ticks(count)
    .filter(Number.isInteger)
    .map((tick) => (
      <g key={tick}>
        <line x1={left} x2={width} y1={scale(tick)} y2={scale(tick)} className="stroke-line" />
        <text x={left - 8} y={scale(tick)} dy="0.32em" textAnchor="end" className="fill-muted text-[11px]">
          {short.format(tick)}
        </text>
      </g>
    ));
}
