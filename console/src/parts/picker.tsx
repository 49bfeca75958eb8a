/**
 * Fields with a list that narrows while the person types: `Picker` takes one of the options, `SuggestedText` any text, for which the
 * options are suggestions.
 */
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import {
  Button,
  ComboBox,
  type ComboBoxProps,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from "react-aria-components";
import type { Option } from "./choice.tsx";

interface FieldProps {
  readonly label: string;
  readonly options: readonly Option[];
  /** Where refusals of the API name it. */
  readonly name?: string;
  readonly hint?: string;
  readonly placeholder?: string;
  /** The label is for screen readers only, where the place says it. */
  readonly isBare?: boolean;
  readonly isRequired?: boolean;
  readonly autoFocus?: boolean;
}

interface PickerProps extends FieldProps {
  /** The id of an option; null or empty while nothing is chosen. */
  readonly value: string | null;
  readonly onChange: (id: string) => void;
  /** Called with what is typed, where the options are loaded for it; they are not narrowed here then. */
  readonly onText?: (text: string) => void;
}

/** One of many. While nothing is typed, the field shows the chosen option and the list all of them. */
export function Picker({ value, options, onChange, onText, ...rest }: PickerProps) {
  const [typed, setTyped] = useState<string>();
  const listed = options.find(({ id }) => id === value);
  // Options that are loaded for what is typed need not have the chosen one, whose name is shown again afterwards.
  const [last, setLast] = useState(listed);
  if (listed && (listed.id !== last?.id || listed.name !== last.name)) setLast(listed);
  const current = listed ?? (last?.id === value ? last : undefined);
  const type = (text: string | undefined) => {
    setTyped(text);
    onText?.(text === undefined || text === current?.name ? "" : text.trim());
  };
  const isNarrowed = typed !== undefined && typed !== current?.name && !onText;
  return (
    <FieldWithList
      {...rest}
      options={isNarrowed ? options.filter((one) => hasWords(one, typed)) : options}
      allowsEmptyCollection
      value={value || null}
      inputValue={typed ?? current?.name ?? ""}
      onInputChange={type}
      onChange={(id) => {
        if (id === null) return;
        // Afterwards the options are those of no text, which need not have it.
        setLast(options.find((one) => one.id === id));
        type(undefined);
        onChange(String(id));
      }}
      onBlur={() => type(undefined)}
    />
  );
}

interface SuggestedTextProps extends FieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function SuggestedText({ value, options, onChange, ...rest }: SuggestedTextProps) {
  const [isTyping, setTyping] = useState(false);
  return (
    <FieldWithList
      {...rest}
      options={isTyping ? options.filter((one) => hasWords(one, value)) : options}
      allowsCustomValue
      inputValue={value}
      onInputChange={(text) => {
        setTyping(true);
        onChange(text.trim());
      }}
      onChange={(id) => {
        setTyping(false);
        if (id !== null) onChange(String(id));
      }}
      onBlur={() => setTyping(false)}
    />
  );
}

function hasWords({ name }: Option, words: string): boolean {
  return name.toLowerCase().includes(words.trim().toLowerCase());
}

type ListProps = FieldProps &
  Omit<ComboBoxProps<Option>, "children" | "className" | "items" | keyof FieldProps>;

function FieldWithList({ label, options, hint, placeholder, isBare = false, ...rest }: ListProps) {
  return (
    <ComboBox
      {...rest}
      {...(isBare && { "aria-label": label })}
      items={options}
      menuTrigger="focus"
      className={isBare ? "min-w-0 flex-1" : "flex min-w-0 flex-col gap-1"}
    >
      {!isBare && <Label className="font-medium">{label}</Label>}
      <div className="relative">
        <Input
          placeholder={placeholder ?? ""}
          className="h-9 w-full min-w-0 rounded-control border border-control bg-surface pr-9 pl-3 data-[focused]:border-accent data-[invalid]:border-bad"
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

/** It is at the end of the page, outside of its landmarks, so it is one itself. */
function Suggestions({ label }: { readonly label: string }) {
  return (
    <Popover className="max-h-80 w-(--trigger-width) min-w-64 overflow-auto rounded-panel bg-surface p-1 shadow-overlay">
      <section aria-label={`Suggestions for ${label}`}>
        <ListBox<Option>
          className="outline-none"
          renderEmptyState={() => <p className="px-3 py-2 text-muted">Nothing is found.</p>}
        >
          {({ id, name, description }) => (
            <ListBoxItem
              id={id}
              textValue={name}
              className="rounded px-3 py-1.5 outline-none data-[focused]:bg-selected"
            >
              {name}
              {description && <span className="block text-small text-muted">{description}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </section>
    </Popover>
  );
}
