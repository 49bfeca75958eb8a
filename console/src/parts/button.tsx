/** Buttons: one primary act a page, the rest plain; quiet ones in lines and tables. */
import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";

type Kind = "primary" | "plain" | "quiet" | "danger";

const kinds: Readonly<Record<Kind, string>> = {
  primary: "bg-accent text-on-accent hover:brightness-110 pressed:brightness-90",
  plain: "border border-control/60 bg-surface hover:bg-sunken",
  quiet: "text-muted hover:bg-sunken hover:text-text",
  danger: "bg-bad text-on-accent hover:brightness-110",
};

const base =
  "inline-flex h-8 cursor-default items-center justify-center gap-1.5 rounded-control font-medium whitespace-nowrap transition-[background,filter] duration-100 select-none disabled:opacity-50";

interface Props extends Omit<ButtonProps, "className" | "children"> {
  readonly kind?: Kind;
  readonly children: ReactNode;
  readonly className?: string;
}

export function Button({ kind = "plain", className = "", ...rest }: Props) {
  return <AriaButton {...rest} className={`${base} px-3 ${kinds[kind]} ${className}`} />;
}

interface IconButtonProps extends Omit<Props, "children" | "aria-label"> {
  /** The name for screen readers, and the tooltip. */
  readonly label: string;
  readonly icon: ReactNode;
  /** The key that does the same, shown in the tooltip. */
  readonly hint?: string;
}

export function IconButton({ label, icon, hint, kind = "quiet", className = "", ...rest }: IconButtonProps) {
  return (
    <TooltipTrigger delay={400} closeDelay={0}>
      <AriaButton {...rest} aria-label={label} className={`${base} w-8 shrink-0 ${kinds[kind]} ${className}`}>
        {icon}
      </AriaButton>
      <Tooltip
        offset={4}
        className="rounded-control bg-text px-2 py-1 text-small text-surface shadow-overlay"
      >
        {label}
        {hint && <kbd className="ml-2 font-mono opacity-70">{hint}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}
