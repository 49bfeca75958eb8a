/** Step 3: what the import does with people who are known, who left, and who join. */
import type { ReactNode } from "react";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { Checkbox } from "../../parts/toggle.tsx";
import { labelLength, statuses } from "./limits.ts";
import type { ImportOptions } from "./options.ts";

interface Props {
  readonly options: ImportOptions;
  readonly onChange: (options: ImportOptions) => void;
  readonly onNext: () => void;
  readonly listName: string;
}

const AS_FOUND = "as-found";

/** The API takes other patterns, too; these are the orders and counts that files have. */
const dateFormats = [
  { id: AS_FOUND, name: "As the file shows" },
  { id: "DMY", name: "Day, month, year", description: "25/12/2026" },
  { id: "MDY", name: "Month, day, year", description: "12/25/2026" },
  { id: "YMD", name: "Year, month, day", description: "2026/12/25" },
  { id: "YDM", name: "Year, day, month", description: "2026/25/12" },
  { id: "excel", name: "Serial numbers of a spreadsheet", description: "46381" },
  { id: "excel1904", name: "Serial numbers of an old Macintosh spreadsheet", description: "44919" },
  { id: "unix", name: "Seconds since 1970", description: "1798156800" },
];

export function OptionsStep({ options, onChange, onNext, listName }: Props) {
  const set = (change: Partial<ImportOptions>) => onChange({ ...options, ...change });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onNext();
      }}
      className="flex max-w-2xl flex-col gap-5"
    >
      <Rule
        name="Update people who are known"
        isOn={options.updateExisting}
        onChange={(updateExisting) => set({ updateExisting })}
      >
        Names and custom fields of the file replace those that are stored; empty cells change nothing. Off:
        members of {listName} stay as they are, and known people who join get only the values that they lack.
      </Rule>
      <Rule
        name="Subscribe people again who unsubscribed"
        isOn={options.resubscribe}
        onChange={(resubscribe) => set({ resubscribe })}
      >
        Only with their consent: people who unsubscribed become active again if their row says active or has
        no state. Off: they stay unsubscribed. Bounced and complained addresses stay as they are in either
        case.
      </Rule>
      <Rule
        name="Start autoresponders for people who join"
        isOn={options.triggerAutoresponders}
        onChange={(triggerAutoresponders) => set({ triggerAutoresponders })}
      >
        The autoresponders of {listName} write to everyone who joins by this import.
      </Rule>
      <div className="grid gap-5 sm:grid-cols-2">
        <Choice
          label="Status of the people in the file"
          options={[
            { id: AS_FOUND, name: "As each row says", description: "Active, where a row says nothing" },
            ...statuses.map((id) => ({ id, name: id, description: "Unless a row says something worse" })),
          ]}
          selectedKey={options.status || AS_FOUND}
          onSelectionChange={(id) => set({ status: id === AS_FOUND ? "" : String(id) })}
        />
        <Choice
          label="How dates are written"
          options={dateFormats}
          selectedKey={options.dateFormat || AS_FOUND}
          onSelectionChange={(id) => set({ dateFormat: id === AS_FOUND ? "" : String(id) })}
        />
      </div>
      <Field
        label="Label"
        hint="Shown with the job, to find it by. The name of the file is kept anyway."
        value={options.label}
        onChange={(label) => set({ label })}
        maxLength={labelLength}
      />
      <div className="flex justify-end">
        <Button type="submit" kind="primary">
          Try it without writing
        </Button>
      </div>
    </form>
  );
}

function Rule({
  name,
  isOn,
  onChange,
  children,
}: {
  readonly name: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    <Checkbox isSelected={isOn} onChange={onChange}>
      <span className="font-medium">{name}</span>
      <span className="block text-muted">{children}</span>
    </Checkbox>
  );
}
