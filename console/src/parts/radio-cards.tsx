/** One of a few ways, each with a sentence of what it means. */
import { Label, Radio, RadioGroup } from "react-aria-components";
import type { Option } from "./choice.tsx";

interface Props {
  readonly label: string;
  readonly options: readonly Option[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

export function RadioCards({ label, options, value, onChange }: Props) {
  return (
    <RadioGroup value={value} onChange={onChange} className="flex flex-col gap-1">
      <Label className="font-medium">{label}</Label>
      <div
        className={`grid gap-2 ${options.some(({ description }) => description) ? "sm:grid-cols-2" : "sm:grid-cols-3"}`}
      >
        {options.map(({ id, name, description }) => (
          <Radio
            key={id}
            value={id}
            className="group flex items-start gap-2 rounded-control border border-control/60 px-3 py-2 data-[disabled]:opacity-50 data-[focus-visible]:outline-2 data-[focus-visible]:outline-accent data-[selected]:border-accent data-[selected]:bg-selected"
          >
            <span
              aria-hidden
              className="mt-0.5 h-4 w-4 shrink-0 rounded-full border border-control bg-surface group-data-[selected]:border-[5px] group-data-[selected]:border-accent"
            />
            <span>
              {name}
              {description && <span className="block text-small text-muted">{description}</span>}
            </span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
