/** An id, host or address with a button to copy it. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button.tsx";
import { say } from "./live-region.ts";

export function Copyable({
  text,
  copies = text,
  label,
  isMono = true,
  isShown = false,
  isWhole = false,
}: {
  readonly text: string;
  /** What is copied, where it is not the text. */
  readonly copies?: string;
  readonly label: string;
  readonly isMono?: boolean;
  /** The button is there without hover and focus. */
  readonly isShown?: boolean;
  /** A long text is wrapped, not cut. */
  readonly isWhole?: boolean;
}) {
  const { isCopied, copy } = useCopy(copies, label);
  return (
    <span className="group inline-flex max-w-full items-center gap-1">
      <span className={`${isWhole ? "break-all" : "truncate"} ${isMono ? "font-mono text-small" : ""}`}>
        {text}
      </span>
      <IconButton
        label={`Copy ${label}`}
        icon={isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onPress={copy}
        className={`-my-1 ${isShown ? "" : "opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"}`}
      />
    </span>
  );
}

export function useCopy(text: string, label: string) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say(`${label} copied`);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return { isCopied, copy: () => void copy() };
}
