/** One of many, found by typing: the options come from the caller, who may load them for each text. */
import { ChevronDown } from "lucide-react";
import { Button, ComboBox, type ComboBoxProps, FieldError, Input, Label, Text } from "react-aria-components";
import type { Option } from "./choice.tsx";
import { Suggestions } from "./suggestions.tsx";

interface Props extends Omit<ComboBoxProps<Option>, "children" | "className" | "items"> {
  readonly label: string;
  readonly options: readonly Option[];
  readonly hint?: string;
  readonly placeholder?: string;
}

export function Picker({ label, options, hint, placeholder, ...rest }: Props) {
  return (
    <ComboBox
      {...rest}
      items={options}
      allowsEmptyCollection={rest.allowsCustomValue !== true}
      menuTrigger="focus"
      className="flex min-w-0 flex-col gap-1"
    >
      <Label className="font-medium">{label}</Label>
      <div className="relative">
        <Input
          placeholder={placeholder ?? ""}
          className="h-9 w-full rounded-control border border-control bg-surface pr-9 pl-3 data-[focused]:border-accent data-[invalid]:border-bad"
        />
        <Button className="absolute inset-y-0 right-0 grid w-9 place-items-center text-muted">
          <ChevronDown size={14} aria-hidden />
        </Button>
      </div>
      {hint && (
        <Text slot="description" className="text-small text-muted">
          {hint}
        </Text>
      )}
      <FieldError className="text-small text-bad" />
      <Suggestions label={label} />
    </ComboBox>
  );
}

/** Options that have the words in their name; the chosen one always, or the field would lose its text. */
export function matching(options: readonly Option[], words: string, chosen: string): readonly Option[] {
  const wanted = words.trim().toLowerCase();
  const current = options.find(({ id }) => id === chosen);
  if (wanted === "" || wanted === current?.name.toLowerCase()) return options;
  return options.filter((one) => one === current || one.name.toLowerCase().includes(wanted));
}
