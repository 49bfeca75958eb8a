/** Until when a key works: for ever, for a while, or to the end of a day. */
import { useState } from "react";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";

const DAY_MS = 86_400_000;
const NEVER = "never";
const DAY = "day";

const options = [
  { id: NEVER, name: "Does not expire" },
  { id: "30", name: "In 30 days" },
  { id: "90", name: "In 90 days" },
  { id: "365", name: "In a year" },
  { id: DAY, name: "On a day" },
];

interface Props {
  /** ISO 8601; null: never. */
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}

export function Expiry({ value, onChange }: Props) {
  const [choice, setChoice] = useState(value === null ? NEVER : DAY);
  const [day, setDay] = useState(value === null ? "" : dayOf(new Date(value)));
  const chooseDay = (next: string) => {
    setDay(next);
    onChange(next === "" ? null : new Date(`${next}T23:59:59`).toISOString());
  };
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Choice
        label="Expires"
        options={options}
        value={choice}
        onChange={(id) => {
          const next = String(id);
          setChoice(next);
          if (next === DAY) return chooseDay(day);
          onChange(next === NEVER ? null : new Date(Date.now() + Number(next) * DAY_MS).toISOString());
        }}
      />
      {choice === DAY && (
        <Field name="expires_at" type="date" label="Last day" value={day} onChange={chooseDay} isRequired />
      )}
    </div>
  );
}

/** `2030-01-31`, in the zone of the browser. */
function dayOf(time: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}
