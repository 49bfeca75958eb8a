/** Now, or at a time of the workspace's clock, shown on the person's own clock, too. */
import { Radio, RadioGroup } from "react-aria-components";
import { Field } from "../../../parts/field.tsx";
import { useZone } from "../../../parts/time.tsx";
import { inZone, momentOf } from "./wall-time.ts";

export interface When {
  readonly isLater: boolean;
  /** What the workspace's clock shows then: `2026-12-01T09:00`. */
  readonly wall: string;
}

interface Props {
  readonly value: When;
  readonly onChange: (when: When) => void;
  readonly timezone: string;
}

export function WhenChoice({ value, onChange, timezone }: Props) {
  const own = useZone();
  const moment = momentOf(value.wall, timezone);
  return (
    <div className="flex flex-col gap-2">
      <RadioGroup
        aria-label="When"
        value={value.isLater ? "later" : "now"}
        onChange={(choice) => onChange({ ...value, isLater: choice === "later" })}
        className="flex flex-wrap gap-x-6 gap-y-1"
      >
        <Dot value="now">Now</Dot>
        <Dot value="later">At a time</Dot>
      </RadioGroup>
      {value.isLater && (
        <>
          <div className="max-w-64">
            <Field
              type="datetime-local"
              label={`Time in ${timezone}`}
              value={value.wall}
              onChange={(wall) => onChange({ ...value, wall })}
            />
          </div>
          {moment !== undefined && own !== timezone && (
            <p className="text-small text-muted">For you that is {inZone(moment, own)}.</p>
          )}
        </>
      )}
    </div>
  );
}

function Dot({ value, children }: { readonly value: string; readonly children: string }) {
  return (
    <Radio value={value} className="group flex min-h-6 items-center gap-2">
      <span className="grid h-4 w-4 place-items-center rounded-full border border-control group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-offset-1 group-data-[focus-visible]:outline-accent group-data-[selected]:border-accent">
        <span className="h-2 w-2 rounded-full group-data-[selected]:bg-accent" />
      </span>
      {children}
    </Radio>
  );
}
