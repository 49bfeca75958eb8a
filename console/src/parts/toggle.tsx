/** Yes or no: a check box in forms and tables, a switch for what works at once. */
import { Check, Minus } from "lucide-react";
import type { ReactNode } from "react";
import {
  Checkbox as AriaCheckbox,
  Switch as AriaSwitch,
  type CheckboxProps,
  type SwitchProps,
} from "react-aria-components";

interface CheckProps extends Omit<CheckboxProps, "className" | "children"> {
  /** Read by screen readers only, where there is no text beside the box. */
  readonly label?: string;
  readonly children?: ReactNode;
}

export function Checkbox({ label, children, ...rest }: CheckProps) {
  return (
    <AriaCheckbox
      {...rest}
      {...(label !== undefined && { "aria-label": label })}
      className="group flex min-h-6 min-w-6 items-start gap-2 data-[disabled]:opacity-50"
    >
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className="mt-0.5 grid h-4 w-4 shrink-0 place-items-center rounded border border-control bg-surface text-on-accent group-data-[selected]:border-accent group-data-[selected]:bg-accent group-data-[indeterminate]:border-accent group-data-[indeterminate]:bg-accent group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-offset-1 group-data-[focus-visible]:outline-accent">
            {isIndeterminate ? (
              <Minus size={12} aria-hidden />
            ) : (
              isSelected && <Check size={12} aria-hidden />
            )}
          </span>
          {children && <span>{children}</span>}
        </>
      )}
    </AriaCheckbox>
  );
}

/** The box in each row of a table: the browser's own, because one of React Aria takes longer than the rest of its row. */
export function RowBox({
  label,
  isSelected,
  onChange,
}: {
  readonly label: string;
  readonly isSelected: boolean;
  readonly onChange: () => void;
}) {
  return (
    <span className="relative flex min-h-6 min-w-6 items-center">
      <input
        type="checkbox"
        aria-label={label}
        checked={isSelected}
        onChange={onChange}
        className="h-4 w-4 appearance-none rounded border border-control bg-surface checked:border-accent checked:bg-accent after:absolute after:inset-0"
      />
      {isSelected && (
        <Check size={12} aria-hidden className="pointer-events-none absolute left-0.5 text-on-accent" />
      )}
    </span>
  );
}

export function Switch({
  children,
  ...rest
}: Omit<SwitchProps, "className" | "children"> & { readonly children: ReactNode }) {
  return (
    <AriaSwitch {...rest} className="group flex min-h-6 items-center gap-2 data-[disabled]:opacity-50">
      <span className="flex h-5 w-9 shrink-0 items-center rounded-full border border-control bg-sunken px-0.5 transition-[background] duration-100 group-data-[selected]:border-accent group-data-[selected]:bg-accent group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-offset-1 group-data-[focus-visible]:outline-accent">
        <span className="h-3.5 w-3.5 rounded-full bg-control transition-transform duration-100 group-data-[selected]:translate-x-4 group-data-[selected]:bg-on-accent" />
      </span>
      <span>{children}</span>
    </AriaSwitch>
  );
}
