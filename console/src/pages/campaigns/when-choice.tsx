/** Right after “Send”, or at a time of the workspace's clock, shown on the person's own clock, too. */
import { Field } from "../../parts/field.tsx";
import { Segmented } from "../../parts/segmented.tsx";
import { useZone } from "../../parts/time.tsx";
import { inZone, momentOf, wallOf } from "./times.ts";

interface Props {
  /** The moment; null for right after “Send”. */
  readonly value: string | null;
  readonly onChange: (moment: string | null) => void;
  readonly timezone: string;
  /** Where the place says what is chosen. */
  readonly isBare?: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function WhenChoice({ value, onChange, timezone, isBare = false }: Props) {
  const own = useZone();
  return (
    <div className="flex flex-col gap-3">
      <Segmented
        label="Leaves"
        isBare={isBare}
        value={value === null ? "now" : "later"}
        onChange={(choice) => onChange(choice === "now" ? null : tomorrow())}
        segments={[
          { id: "now", name: "Right after “Send”" },
          { id: "later", name: "At a time" },
        ]}
      />
      {value !== null && (
        <div className="max-w-xs">
          <Field
            label={`Time in ${timezone}`}
            type="datetime-local"
            value={wallOf(value, timezone)}
            onChange={(wall) => wall !== "" && onChange(momentOf(wall, timezone))}
            hint={own === timezone ? inZone(value, timezone) : `For you that is ${inZone(value, own)}.`}
          />
        </div>
      )}
    </div>
  );
}

/** A day from now, at the full hour. */
function tomorrow(): string {
  const at = Date.now() + DAY_MS;
  return new Date(at - (at % HOUR_MS)).toISOString();
}
