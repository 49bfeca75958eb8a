/** One of a few, all in view: a radio group that looks like one control. */
import { Label, Radio, RadioGroup } from "react-aria-components";

interface Segment<Value extends string> {
  readonly id: Value;
  readonly name: string;
}

interface Props<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly segments: readonly Segment<Value>[];
  readonly onChange: (value: Value) => void;
  /** The label is for screen readers only, where the place says it. */
  readonly isBare?: boolean;
}

export function Segmented<Value extends string>({
  label,
  value,
  segments,
  onChange,
  isBare = false,
}: Props<Value>) {
  return (
    <RadioGroup
      value={value}
      onChange={(next) => onChange(next as Value)}
      orientation="horizontal"
      {...(isBare && { "aria-label": label })}
      className="flex min-w-0 flex-col gap-1"
    >
      {!isBare && <Label className="font-medium">{label}</Label>}
      <div className="inline-flex w-fit max-w-full overflow-x-auto rounded-control border border-control/60 p-0.5">
        {segments.map(({ id, name }) => (
          <Radio
            key={id}
            value={id}
            className="flex h-[30px] cursor-default items-center rounded px-2.5 text-table whitespace-nowrap text-muted data-[focus-visible]:outline-2 data-[focus-visible]:outline-accent data-[hovered]:text-text data-[selected]:bg-selected data-[selected]:font-medium data-[selected]:text-text"
          >
            {name}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
