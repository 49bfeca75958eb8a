/**
 * Lines over time: a title, a sentence that says what they show, points that arrow keys and the pointer walk, the same numbers
 * as a table, and as a CSV file.
 */
import { scaleLinear } from "@visx/scale";
import { LinePath } from "@visx/shape";
import { type KeyboardEvent, useCallback, useId, useState } from "react";
import { Button } from "./button.tsx";
import { saveCsv } from "./csv-file.ts";
import { countText } from "./numbers.ts";

export interface Series {
  readonly name: string;
  /** A class that sets the colour. */
  readonly tone: string;
  readonly isDashed?: boolean;
}

export interface ChartPoint {
  /** When it is, in words. */
  readonly label: string;
  /** One for each series. */
  readonly values: readonly number[];
}

interface Props {
  readonly title: string;
  readonly summary: string;
  readonly series: readonly Series[];
  readonly points: readonly ChartPoint[];
  /** Points that have their label below the chart: every so many. */
  readonly labelEvery: number;
}

const HEIGHT = 200;
const LEFT = 44;
const BOTTOM = 24;
const TOP = 8;
const TICKS = 4;
/** Below this width every second label is left out. */
const NARROW = 480;

export function LineChart(props: Props) {
  const { title, summary, series, points } = props;
  const [isTable, setTable] = useState(false);
  const id = useId();
  return (
    <figure aria-labelledby={`${id}-title`} aria-describedby={`${id}-summary`}>
      <figcaption className="flex flex-wrap items-center gap-x-2">
        <span id={`${id}-title`} className="flex-1 text-[15px] font-semibold">
          {title}
        </span>
        <Button kind="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? "Show as chart" : "Show as table"}
        </Button>
        <Button
          kind="quiet"
          onPress={() =>
            saveCsv(title, [
              ["Time", ...series.map(({ name }) => name)],
              ...points.map(({ label, values }) => [label, ...values]),
            ])
          }
        >
          CSV
        </Button>
        <span id={`${id}-summary`} className="w-full text-muted">
          {summary}
        </span>
      </figcaption>
      {isTable ? <PointTable {...props} /> : <Lines {...props} />}
    </figure>
  );
}

function Lines({ title, series, points, labelEvery }: Props) {
  const [width, place] = useWidth();
  const [active, setActive] = useState<number>();
  const last = points.length - 1;
  const most = Math.max(1, ...points.flatMap(({ values }) => values));
  const x = scaleLinear({ domain: [0, Math.max(1, last)], range: [LEFT, Math.max(LEFT, width - 8)] });
  const y = scaleLinear({ domain: [0, most], range: [HEIGHT - BOTTOM, TOP], nice: TICKS });
  const step = width < NARROW ? labelEvery * 2 : labelEvery;
  const ticks = y.ticks(TICKS).filter(Number.isInteger);
  const shown = points[active ?? last];
  const walk = (event: KeyboardEvent) => {
    const at = active ?? last;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setActive(Math.max(0, Math.min(last, to)));
  };
  return (
    <div className="mt-3">
      <p className="flex min-h-6 flex-wrap items-center gap-x-4 text-table">
        <span className="text-muted">{shown?.label}</span>
        {series.map(({ name, tone, isDashed }, index) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" width="18" height="4" className={tone}>
              <line
                x1="0"
                x2="18"
                y1="2"
                y2="2"
                stroke="currentColor"
                strokeWidth="2"
                strokeDasharray={isDashed ? "4 3" : undefined}
              />
            </svg>
            {name} {countText(shown?.values[index] ?? 0)}
          </span>
        ))}
      </p>
      <div
        ref={place}
        role="slider"
        tabIndex={0}
        aria-label={`Points of ${title}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={active ?? last}
        aria-valuetext={`${shown?.label}: ${series.map(({ name }, index) => `${name} ${countText(shown?.values[index] ?? 0)}`).join(", ")}`}
        onKeyDown={walk}
        onPointerMove={({ clientX, currentTarget }) => {
          const at = Math.round(x.invert(clientX - currentTarget.getBoundingClientRect().left));
          setActive(Math.max(0, Math.min(last, at)));
        }}
        onPointerLeave={() => setActive(undefined)}
        className="overflow-hidden rounded-control"
      >
        <svg aria-hidden="true" width={width} height={HEIGHT} className="block text-small">
          {ticks.map((tick) => (
            <g key={tick}>
              <line x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} className="stroke-line" />
              <text x={LEFT - 8} y={y(tick)} dy="0.32em" textAnchor="end" className="fill-muted">
                {countText(tick)}
              </text>
            </g>
          ))}
          {points.map(({ label }, index) =>
            index % step === 0 ? (
              <text
                key={label}
                x={x(index)}
                y={HEIGHT - 6}
                textAnchor={index === 0 ? "start" : index > last - step / 4 ? "end" : "middle"}
                className="fill-muted"
              >
                {label}
              </text>
            ) : null,
          )}
          {active !== undefined && (
            <line x1={x(active)} x2={x(active)} y1={TOP} y2={HEIGHT - BOTTOM} className="stroke-control" />
          )}
          {series.map(({ name, tone, isDashed }, index) => (
            <g key={name} className={tone}>
              <LinePath
                data={[...points]}
                x={(_point, at) => x(at)}
                y={({ values }) => y(values[index] ?? 0)}
                stroke="currentColor"
                strokeWidth={2}
                strokeDasharray={isDashed ? "4 3" : undefined}
              />
              {active !== undefined && (
                <circle cx={x(active)} cy={y(points[active]?.values[index] ?? 0)} r={4} fill="currentColor" />
              )}
            </g>
          ))}
        </svg>
      </div>
    </div>
  );
}

function PointTable({ title, series, points }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section tabIndex={0} aria-label={`${title}, as a table`} className="mt-3 max-h-64 overflow-auto">
      <table aria-label={title} className="w-full text-table">
        <thead>
          <tr>
            <th scope="col" className="h-8 border-b border-line text-left text-small font-medium text-muted">
              Time
            </th>
            {series.map(({ name }) => (
              <th
                key={name}
                scope="col"
                className="h-8 border-b border-line text-right text-small font-medium text-muted"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ label, values }) => (
            <tr key={label} className="h-7 border-b border-line/60">
              <th scope="row" className="text-left font-normal">
                {label}
              </th>
              {series.map(({ name }, index) => (
                <td key={name} className="text-right">
                  {countText(values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The width of an element, now and whenever it changes. */
function useWidth(): readonly [number, (element: HTMLElement | null) => (() => void) | undefined] {
  const [width, setWidth] = useState(0);
  const place = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, place];
}
