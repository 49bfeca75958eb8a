/** One of a few values, with a label. */
import { Check, ChevronDown } from "lucide-react";
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  type SelectProps,
  SelectValue,
} from "react-aria-components";

export interface Option {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

interface Props extends Omit<SelectProps<Option>, "children" | "className"> {
  readonly label: string;
  readonly options: readonly Option[];
  /** The label is for screen readers only, where the place says it. */
  readonly isBare?: boolean;
}

export function Choice({ label, options, isBare = false, ...rest }: Props) {
  return (
    <Select {...rest} {...(isBare && { "aria-label": label })} className="flex min-w-0 flex-col gap-1">
      {!isBare && <Label className="font-medium">{label}</Label>}
      <Button className="flex h-9 items-center gap-2 rounded-control border border-control bg-surface px-3 text-left">
        <SelectValue className="flex-1 truncate">
          {({ selectedText }) => selectedText || "Choose …"}
        </SelectValue>
        <ChevronDown size={14} aria-hidden className="text-muted" />
      </Button>
      <FieldError className="text-small text-bad" />
      <Popover className="max-h-80 w-(--trigger-width) min-w-64 overflow-auto rounded-panel bg-surface p-1 shadow-overlay">
        <ListBox items={options} className="outline-none">
          {({ id, name, description }) => (
            <ListBoxItem
              id={id}
              textValue={name}
              className="flex items-start gap-2 rounded px-3 py-1.5 outline-none data-[disabled]:text-muted data-[disabled]:opacity-70 data-[focused]:bg-selected"
            >
              {({ isSelected }) => (
                <>
                  <span className="flex-1">
                    {name}
                    {description && <span className="block text-small text-muted">{description}</span>}
                  </span>
                  {isSelected && <Check size={14} aria-hidden className="mt-1" />}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
