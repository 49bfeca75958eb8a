/** A small line of a figure by days, without axes: the words beside it say the sum. */
import { scaleLinear } from "@visx/scale";

interface Props {
  /** What it shows, for screen readers: "Growth of 30 days: 120". */
  readonly label: string;
  readonly values: readonly number[];
}

const WIDTH = 96;
const HEIGHT = 20;
const PADDING = 2;

export function SparkLine({ label, values }: Props) {
  if (values.length < 2) return null;
  const x = scaleLinear({ domain: [0, values.length - 1], range: [PADDING, WIDTH - PADDING] });
  const y = scaleLinear({
    domain: [Math.min(0, ...values), Math.max(1, ...values)],
    range: [HEIGHT - PADDING, PADDING],
  });
  const points = values.map((value, day) => `${x(day).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="h-5 w-24 min-w-0">
      <line x1={PADDING} x2={WIDTH - PADDING} y1={y(0)} y2={y(0)} className="stroke-line" />
      <polyline
        points={points}
        fill="none"
        strokeWidth={1.5}
        strokeLinejoin="round"
        className="stroke-accent"
      />
    </svg>
  );
}
