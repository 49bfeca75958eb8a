/** The further acts of a row or a page, behind one button. */
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

export interface MenuAct {
  readonly name: string;
  readonly run: () => void;
  readonly isDanger?: boolean;
}

export function ActMenu({ label, acts }: { readonly label: string; readonly acts: readonly MenuAct[] }) {
  if (acts.length === 0) return null;
  return (
    <MenuTrigger>
      <Button
        aria-label={label}
        className="grid h-8 w-8 shrink-0 place-items-center rounded-control text-muted hover:bg-sunken hover:text-text"
      >
        <Ellipsis size={16} aria-hidden />
      </Button>
      <Popover placement="bottom end" className="min-w-44 rounded-panel bg-surface p-1 shadow-overlay">
        <Menu className="outline-none" onAction={(name) => acts.find((act) => act.name === name)?.run()}>
          {acts.map(({ name, isDanger }) => (
            <MenuItem
              key={name}
              id={name}
              textValue={name}
              className={`flex h-8 items-center rounded px-3 outline-none data-[focused]:bg-selected ${isDanger ? "text-bad" : ""}`}
            >
              {name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
