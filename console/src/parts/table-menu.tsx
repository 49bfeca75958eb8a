/** The settings of a table: columns, height of the rows, rows of a page. */
import { Settings2 } from "lucide-react";
import { Button, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { Choice } from "./choice.tsx";
import type { TableSettings } from "./table-settings.ts";
import { Checkbox, Switch } from "./toggle.tsx";

interface Props {
  readonly columns: readonly { readonly id: string; readonly head: string }[];
  readonly settings: TableSettings;
  readonly onChange: (next: Partial<TableSettings>) => void;
  /** The sizes to choose from; empty where the API gives no choice. */
  readonly pageSizes: readonly number[];
  readonly limit: number | undefined;
}

export function TableMenu({ columns, settings, onChange, pageSizes, limit }: Props) {
  const { hidden, isDense } = settings;
  // The first column names the row.
  const choosable = columns.slice(1);
  return (
    <DialogTrigger>
      <Button
        aria-label="Columns and rows"
        className="grid h-9 w-9 shrink-0 place-items-center rounded-control text-muted hover:bg-sunken hover:text-text"
      >
        <Settings2 size={16} aria-hidden />
      </Button>
      <Popover placement="bottom end" className="w-60 rounded-panel bg-surface shadow-overlay">
        <Dialog aria-label="Columns and rows" className="flex flex-col gap-3 p-4 outline-none">
          <fieldset className="flex flex-col gap-1.5">
            <legend className="mb-1.5 text-small font-medium text-muted">Columns</legend>
            {choosable.map(({ id, head }) => (
              <Checkbox
                key={id}
                isSelected={!hidden.includes(id)}
                onChange={(isShown) =>
                  onChange({ hidden: isShown ? hidden.filter((one) => one !== id) : [...hidden, id] })
                }
              >
                {head}
              </Checkbox>
            ))}
          </fieldset>
          <Switch isSelected={isDense} onChange={(next) => onChange({ isDense: next })}>
            Dense rows
          </Switch>
          {pageSizes.length > 1 && (
            <Choice
              label="Rows of a page"
              options={pageSizes.map((size) => ({ id: String(size), name: String(size) }))}
              value={String(limit ?? pageSizes[0])}
              onChange={(size) => onChange({ limit: Number(size) })}
            />
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
