/** Lines over time; around them is what every chart has (chart-figure.tsx). */
import { scaleLinear } from "@visx/scale";
import { LinePath } from "@visx/shape";
import { useState } from "react";
import { ChartFigure, type ChartPoint, Ticks, Walk } from "./chart-figure.tsx";
import { countText } from "./numbers.ts";
import { useWidth } from "./use-width.ts";

export interface Series {
  readonly name: string;
  /** A class that sets the colour. */
  readonly tone: string;
  readonly isDashed?: boolean;
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
  return (
    <ChartFigure {...props} pointName="Time">
      <Lines {...props} />
    </ChartFigure>
  );
}

function Lines({ title, series, points, labelEvery }: Props) {
  const [place, width] = useWidth();
  const [active, setActive] = useState<number>();
  const last = points.length - 1;
  const most = Math.max(1, ...points.flatMap(({ values }) => values));
  const x = scaleLinear({ domain: [0, Math.max(1, last)], range: [LEFT, Math.max(LEFT, width - 8)] });
  const y = scaleLinear({ domain: [0, most], range: [HEIGHT - BOTTOM, TOP], nice: TICKS });
  const step = width < NARROW ? labelEvery * 2 : labelEvery;
  const shown = points[active ?? last];
  const figures = series.map(({ name }, index) => `${name} ${countText(shown?.values[index] ?? 0)}`);
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
            {figures[index]}
          </span>
        ))}
      </p>
      <Walk
        label={`Points of ${title}`}
        at={active ?? last}
        count={points.length}
        text={`${shown?.label}: ${figures.join(", ")}`}
        onMove={setActive}
        pointAt={(px) => Math.round(x.invert(px))}
        place={place}
      >
        <svg aria-hidden="true" width={width} height={HEIGHT} className="block text-small">
          <Ticks scale={y} count={TICKS} left={LEFT} width={width} />
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
      </Walk>
    </div>
  );
}
