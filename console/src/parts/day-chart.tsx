/** Figures per day as bars; around them is what every chart has (chart-figure.tsx). */
import { scaleBand, scaleLinear } from "@visx/scale";
import { useId, useState } from "react";
import { ChartFigure, Ticks, Walk } from "./chart-figure.tsx";
import { countText } from "./numbers.ts";
import { useWidth } from "./use-width.ts";

export interface DaySeries {
  readonly name: string;
  /** Classes that fill a bar and a mark. */
  readonly tone: string;
  readonly isHatched?: boolean;
  /** Bars of one stack stand on each other; stacks stand beside each other. */
  readonly stack: number;
}

export interface Day {
  /** YYYY-MM-DD */
  readonly date: string;
  /** One for each series. */
  readonly values: readonly number[];
}

interface Props {
  readonly title: string;
  readonly summary: string;
  readonly series: readonly DaySeries[];
  readonly days: readonly Day[];
}

export function DayChart({ title, summary, series, days }: Props) {
  const points = days.map(({ date, values }) => ({ label: dayText(date), values })).reverse();
  return (
    <ChartFigure title={title} summary={summary} pointName="Day" series={series} points={points}>
      <Bars title={title} series={series} days={days} />
    </ChartFigure>
  );
}

const HEIGHT = 200;
const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
const TICKS = 4;
/** A label of a day needs this much room. */
const LABEL_PX = 56;

function Bars({ title, series, days }: Omit<Props, "summary">) {
  const [place, width] = useWidth();
  const [active, setActive] = useState<number>();
  const last = days.length - 1;
  const chosen = Math.min(active ?? last, last);
  const hatch = useId();
  const stacks = [...new Set(series.map(({ stack }) => stack))];
  const highest = Math.max(
    1,
    ...days.flatMap(({ values }) => stacks.map((stack) => sumOf(values, series, stack))),
  );
  const x = scaleBand({
    domain: days.map(({ date }) => date),
    range: [LEFT, Math.max(LEFT, width)],
    padding: 0.2,
  });
  const y = scaleLinear({ domain: [0, highest], range: [HEIGHT - BOTTOM, TOP], nice: TICKS });
  const barWidth = x.bandwidth() / stacks.length;
  const labelEvery = Math.max(1, Math.ceil(LABEL_PX / Math.max(1, x.step())));
  const day = days[chosen];
  return (
    <>
      <Legend series={series} day={day} />
      <Walk
        label={`${title}: day`}
        at={chosen}
        count={days.length}
        text={day ? textOf(day, series) : ""}
        onMove={setActive}
        pointAt={(px) => Math.floor((px - LEFT) / x.step())}
        place={place}
      >
        <svg width={width} height={HEIGHT} aria-hidden className="block">
          <defs>
            <pattern
              id={hatch}
              width="5"
              height="5"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect width="2" height="5" className="fill-surface" />
            </pattern>
          </defs>
          <Ticks scale={y} count={TICKS} left={LEFT} width={width} />
          {days.map(({ date, values }, index) => {
            const left = x(date) ?? 0;
            return (
              <g key={date}>
                {index === chosen && (
                  <rect
                    x={left - 2}
                    y={TOP}
                    width={x.bandwidth() + 4}
                    height={HEIGHT - BOTTOM - TOP}
                    className="fill-selected"
                  />
                )}
                {barsOf(values, series).map(({ from, to, one }) => (
                  <g key={one.name}>
                    {[one.tone, ...(one.isHatched ? [undefined] : [])].map((tone) => (
                      <rect
                        key={tone ?? "hatch"}
                        x={left + stacks.indexOf(one.stack) * barWidth}
                        y={y(to)}
                        width={Math.max(1, barWidth - 1)}
                        height={Math.max(0, y(from) - y(to))}
                        {...(tone ? { className: tone } : { fill: `url(#${hatch})` })}
                      />
                    ))}
                  </g>
                ))}
                {(last - index) % labelEvery === 0 && left > LEFT + LABEL_PX / 2 && (
                  <text
                    x={Math.min(left + x.bandwidth() / 2, width - LABEL_PX / 2)}
                    y={HEIGHT - 6}
                    textAnchor="middle"
                    className="fill-muted text-[11px]"
                  >
                    {dayText(date)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </Walk>
    </>
  );
}

/** The names of the series with the figures of the chosen day. */
function Legend({ series, day }: { readonly series: readonly DaySeries[]; readonly day: Day | undefined }) {
  return (
    <p className="mt-2 mb-2 flex flex-wrap gap-x-5 gap-y-1 text-small">
      <span className="font-medium">{day && dayText(day.date)}</span>
      {series.map(({ name, tone, isHatched }, index) => (
        <span key={name} className="inline-flex items-center gap-1.5 text-muted">
          <svg width="10" height="10" aria-hidden>
            <rect width="10" height="10" rx="2" className={tone} />
            {isHatched && (
              <path d="M0 10 10 0M-2 4 4-2M6 12 12 6" className="stroke-surface" strokeWidth="2" />
            )}
          </svg>
          {name} <span className="text-text">{countText(day?.values[index] ?? 0)}</span>
        </span>
      ))}
    </p>
  );
}

function barsOf(values: readonly number[], series: readonly DaySeries[]) {
  const tops = new Map<number, number>();
  return series.map((one, index) => {
    const from = tops.get(one.stack) ?? 0;
    const to = from + (values[index] ?? 0);
    tops.set(one.stack, to);
    return { from, to, one };
  });
}

function sumOf(values: readonly number[], series: readonly DaySeries[], stack: number): number {
  return series.reduce((sum, one, index) => sum + (one.stack === stack ? (values[index] ?? 0) : 0), 0);
}

function textOf({ date, values }: Day, series: readonly DaySeries[]): string {
  const figures = series.map(({ name }, index) => `${countText(values[index] ?? 0)} ${name.toLowerCase()}`);
  return `${dayText(date)}: ${figures.join(", ")}`;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

function dayText(date: string): string {
  return dayFormat.format(new Date(`${date}T00:00:00Z`));
}
