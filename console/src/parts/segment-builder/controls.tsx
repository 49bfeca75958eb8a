/** Small controls of a rule, whose labels are for screen readers: the line around them says what they are. */
import { ChevronDown, X } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Button, ComboBox, Input, Tag, TagGroup, TagList, TextField } from "react-aria-components";
import type { Option } from "../choice.tsx";
import { say } from "../live-region.ts";
import { matching } from "../picker.tsx";
import { Suggestions } from "../suggestions.tsx";

const box =
  "h-9 w-full min-w-0 rounded-control border border-control bg-surface px-3 data-[focused]:border-accent data-[invalid]:border-bad";

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly type?: "text" | "number" | "date";
  readonly maxLength?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly placeholder?: string;
}

export function BareInput({
  label,
  value,
  onChange,
  type = "text",
  maxLength,
  min,
  max,
  placeholder,
}: InputProps) {
  return (
    <TextField
      aria-label={label}
      value={value}
      onChange={onChange}
      {...(maxLength && { maxLength })}
      className="min-w-0 flex-1"
    >
      <Input
        type={type}
        min={min ?? undefined}
        max={max ?? undefined}
        step={type === "number" ? "any" : undefined}
        placeholder={placeholder ?? ""}
        className={box}
      />
    </TextField>
  );
}

interface FinderProps {
  readonly label: string;
  readonly options: readonly Option[];
  /** Empty when nothing is chosen. */
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  readonly placeholder?: string;
  /** Where the options come from a search: called with what is typed. */
  readonly onSearch?: (words: string) => void;
  readonly autoFocus?: boolean;
}

/** One of many, found by typing. */
export function Finder({
  label,
  options,
  chosen,
  onChoose,
  placeholder,
  onSearch,
  autoFocus = false,
}: FinderProps) {
  const current = options.find(({ id }) => id === chosen);
  const [words, setWords] = useState<string>();
  const type = (text: string) => {
    setWords(text);
    onSearch?.(text === current?.name ? "" : text);
  };
  return (
    <ComboBox<Option>
      aria-label={label}
      items={onSearch ? options : matching(options, words ?? "", chosen)}
      inputValue={words ?? current?.name ?? ""}
      onInputChange={type}
      value={chosen === "" ? null : chosen}
      onChange={(id) => {
        if (id !== null) onChoose(String(id));
        setWords(undefined);
      }}
      onBlur={() => setWords(undefined)}
      allowsEmptyCollection
      menuTrigger="focus"
      autoFocus={autoFocus}
      className="relative min-w-0 flex-1"
    >
      <Input placeholder={placeholder ?? ""} className={`${box} pr-9`} />
      <Button className="absolute top-0 right-0 grid h-9 w-9 place-items-center text-muted">
        <ChevronDown size={14} aria-hidden />
      </Button>
      <Suggestions label={label} />
    </ComboBox>
  );
}

interface TextsProps {
  readonly label: string;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  readonly mostItems: number | null;
  readonly maxLength: number | null;
  /** Values to choose from, where the field has such. */
  readonly options?: readonly Option[];
}

/** Several texts: Enter or a comma ends one, pasted lines are one each. */
export function Texts({ label, values, onChange, mostItems, maxLength, options = [] }: TextsProps) {
  const [typed, setTyped] = useState("");
  const add = (text: string) => {
    const added = text.split(/[\n,;]+/).flatMap((part) => part.trim() || []);
    const all = [...new Set([...values, ...added])].slice(0, mostItems ?? undefined);
    if (all.length > values.length) say(`${added.join(", ")} added`);
    onChange(all);
    setTyped("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Backspace" && typed === "") onChange(values.slice(0, -1));
    else if ((event.key === "Enter" || event.key === ",") && typed.trim() !== "") {
      event.preventDefault();
      add(typed);
    }
  };
  const left = options.filter(({ id }) => !values.includes(id));
  const nameOf = (value: string) => options.find(({ id }) => id === value)?.name ?? value;
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1.5">
      {values.length > 0 && (
        <TagGroup
          aria-label={label}
          onRemove={(removed) => onChange(values.filter((one) => !removed.has(one)))}
        >
          <TagList className="flex flex-wrap gap-1">
            {values.map((value) => (
              <Tag
                key={value}
                id={value}
                textValue={nameOf(value)}
                className="inline-flex h-6 max-w-full items-center rounded bg-selected pl-2 text-table"
              >
                <span className="truncate">{nameOf(value)}</span>
                <Button
                  slot="remove"
                  aria-label={`Remove ${nameOf(value)}`}
                  className="grid h-6 w-6 place-items-center text-muted hover:text-text"
                >
                  <X size={13} aria-hidden />
                </Button>
              </Tag>
            ))}
          </TagList>
        </TagGroup>
      )}
      {options.length > 0 ? (
        <Finder
          label={label}
          options={left}
          chosen=""
          onChoose={(id) => onChange([...values, id])}
          placeholder={values.length === 0 ? "Choose …" : "Add another …"}
        />
      ) : (
        <TextField
          aria-label={label}
          value={typed}
          onChange={(text) => (/\n/.test(text) ? add(text) : setTyped(text))}
          onBlur={() => typed.trim() !== "" && add(typed)}
          {...(maxLength && { maxLength })}
        >
          <Input
            placeholder={values.length === 0 ? "A value, then Enter" : "Another value, then Enter"}
            onKeyDown={onKey}
            onPaste={(event) => {
              const pasted = event.clipboardData.getData("text");
              if (!/[\n,;]/.test(pasted)) return;
              event.preventDefault();
              add(typed + pasted);
            }}
            className={box}
          />
        </TextField>
      )}
    </div>
  );
}
