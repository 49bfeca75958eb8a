/** The filter line: conditions as chips, and a field that suggests names and values and says what is wrong with a word. */
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { usePlace } from "../api/session.tsx";
import { useKeys } from "../parts/keys.ts";
import { say } from "../parts/live-region.ts";
import {
  type FilterField,
  type FilterValues,
  readWord,
  type Suggestion,
  suggestionsFor,
  wordsOf,
  writeWord,
} from "./filter.ts";
import { RecentFilters } from "./recent-filters.ts";

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly fields: readonly FilterField[];
  /** The parameter that a word without a name is for. */
  readonly free: string;
  readonly values: FilterValues;
  readonly onChange: (values: FilterValues) => void;
}

export function FilterLine({ label, placeholder, fields, free, values, onChange }: Props) {
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string>();
  const [active, setActive] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const { session } = usePlace();
  const recent = new RecentFilters(session.person.id, label);
  const suggestions = isOpen
    ? [...recentOf(recent, typed, fields, values), ...suggestionsFor(typed, fields, values)]
    : [];
  const set = fields.filter(({ parameter }) => values[parameter.name] !== undefined);
  useKeys({ "/": { name: label, group: "Table", run: () => field.current?.focus() } });

  const type = (text: string) => {
    setTyped(text);
    setFault(undefined);
    setActive(-1);
  };
  const add = (line: string) => {
    let next = values;
    for (const word of wordsOf(line, fields)) {
      const read = readWord(word, fields, free);
      if ("fault" in read) return setFault(read.fault);
      next = { ...next, [read.field.parameter.name]: read.value };
    }
    type("");
    setOpen(false);
    recent.add(next);
    onChange(next);
    say(`Filter ${line}`);
  };
  const take = ({ text, isWhole, all }: Suggestion) => {
    if (all) {
      type("");
      setOpen(false);
      onChange(all);
    } else if (isWhole) add(text);
    else type(text);
  };
  const remove = (one: FilterField) => {
    const { [one.parameter.name]: _removed, ...rest } = values;
    onChange(rest);
    field.current?.focus();
  };
  const edit = (one: FilterField) => {
    remove(one);
    setOpen(true);
    type(writeWord(one, values[one.parameter.name] ?? ""));
  };
  const onKey = (event: KeyboardEvent) => {
    const chosen = suggestions[active];
    if (event.key === "ArrowDown" && !isOpen) setOpen(true);
    else if (event.key === "ArrowDown") setActive(Math.min(active + 1, suggestions.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, -1));
    else if (event.key === "Enter" && chosen) take(chosen);
    else if (event.key === "Enter" && typed.trim() !== "") add(typed.trim());
    else if (event.key === "Tab" && typed !== "" && suggestions.length > 0)
      take(chosen ?? (suggestions[0] as Suggestion));
    else if (event.key === "Backspace" && typed === "" && set.length > 0) edit(set.at(-1) as FilterField);
    else if (event.key === "Escape" && (typed !== "" || isOpen)) {
      type("");
      setOpen(false);
    } else return;
    event.preventDefault();
  };

  return (
    <div className="relative min-w-64 flex-1">
      <div
        className={`flex min-h-9 flex-wrap items-center gap-1 rounded-control border bg-surface px-2 py-1 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent ${fault ? "border-bad" : "border-control/60"}`}
      >
        <Search size={15} aria-hidden className="mx-1 shrink-0 text-muted" />
        {set.map((one) => (
          <Chip
            key={one.word}
            text={writeWord(one, values[one.parameter.name] ?? "")}
            onEdit={() => edit(one)}
            onRemove={() => remove(one)}
          />
        ))}
        <input
          ref={field}
          role="combobox"
          aria-label={label}
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
          aria-autocomplete="list"
          aria-invalid={fault !== undefined}
          aria-describedby={fault ? `${id}-fault` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          placeholder={set.length === 0 ? placeholder : ""}
          onChange={({ target }) => {
            setOpen(true);
            type(target.value);
          }}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKey}
          className={`h-7 min-w-40 flex-1 bg-transparent px-1 outline-none placeholder:text-muted ${fault ? "underline decoration-bad decoration-wavy underline-offset-4" : ""}`}
        />
        <kbd className="mr-1 rounded border border-line px-1.5 font-mono text-small text-muted max-md:hidden">
          /
        </kbd>
      </div>
      {fault && (
        <p id={`${id}-fault`} role="alert" className="mt-1 text-small text-bad">
          {fault}
        </p>
      )}
      <ul
        id={`${id}-list`}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the listbox of the combobox
        role="listbox"
        aria-label="Suggestions"
        // Browsers lead Tab to a list that scrolls; it would close under the focus.
        tabIndex={-1}
        hidden={suggestions.length === 0}
        className="absolute top-full left-0 z-30 mt-1 max-h-80 w-full max-w-xl overflow-auto rounded-panel bg-surface py-1 shadow-overlay"
      >
        {suggestions.map((one, index) => (
          <li
            key={one.text}
            id={`${id}-${index}`}
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the listbox
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onPointerDown={(event) => {
              event.preventDefault();
              take(one);
            }}
            className="flex items-baseline gap-3 px-3 py-1.5 hover:bg-sunken aria-selected:bg-selected"
          >
            <span className="font-mono text-small">{one.text}</span>
            <span className="truncate text-small text-muted">{one.explanation}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Filters of before, while nothing is typed and no filter is set. */
function recentOf(
  recent: RecentFilters,
  typed: string,
  fields: readonly FilterField[],
  values: FilterValues,
): readonly Suggestion[] {
  if (typed !== "" || Object.keys(values).length > 0) return [];
  return recent.read().flatMap((all) => {
    const words = fields.flatMap((one) => {
      const value = all[one.parameter.name];
      return value === undefined ? [] : [writeWord(one, value)];
    });
    return words.length === 0
      ? []
      : [{ text: words.join(" "), explanation: "used before", isWhole: true, all }];
  });
}

function Chip({
  text,
  onEdit,
  onRemove,
}: {
  readonly text: string;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}) {
  return (
    <span className="inline-flex h-6 max-w-full items-center rounded bg-selected text-table">
      <button type="button" onClick={onEdit} title="Change" className="truncate rounded-l px-2">
        {text}
      </button>
      <button
        type="button"
        onClick={onRemove}
        aria-label={`Remove ${text}`}
        className="grid h-6 w-6 place-items-center rounded-r text-muted hover:text-text"
      >
        <X size={13} aria-hidden />
      </button>
    </span>
  );
}
