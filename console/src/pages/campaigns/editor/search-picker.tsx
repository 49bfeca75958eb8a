/** A picker that filters its options by what is typed, and shows the chosen one while nothing is. */
import { useState } from "react";
import type { Option } from "../../../parts/choice.tsx";
import { Picker } from "../../../parts/picker.tsx";

interface Props {
  readonly label: string;
  /** Where refusals of the API name it. */
  readonly name?: string;
  readonly value: string | null;
  readonly options: readonly Option[];
  readonly onChange: (id: string) => void;
  /** Called with what is typed, where the options are loaded for it; they are not filtered here then. */
  readonly onText?: (text: string) => void;
  readonly hint?: string;
  readonly placeholder?: string;
}

export function SearchPicker({ value, options, onChange, onText, ...rest }: Props) {
  const [typed, setTyped] = useState<string>();
  const [chosen, setChosen] = useState(() => options.find(({ id }) => id === value));
  const current = options.find(({ id }) => id === value) ?? (chosen?.id === value ? chosen : undefined);
  const words = (typed ?? "").trim().toLowerCase();
  const isTyping = typed !== undefined && typed !== current?.name;
  const shown =
    isTyping && !onText ? options.filter(({ name }) => name.toLowerCase().includes(words)) : options;
  const type = (text: string | undefined) => {
    setTyped(text);
    onText?.(text === undefined || text === current?.name ? "" : text.trim());
  };
  return (
    <Picker
      {...rest}
      options={shown}
      selectedKey={value}
      inputValue={typed ?? current?.name ?? ""}
      onInputChange={type}
      onSelectionChange={(id) => {
        if (id === null) return;
        setChosen(options.find((one) => one.id === id));
        type(undefined);
        onChange(String(id));
      }}
      onBlur={() => type(undefined)}
    />
  );
}
