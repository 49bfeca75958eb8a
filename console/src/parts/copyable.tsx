/** An id, host or address with a button to copy it. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button.tsx";
import { say } from "./live-region.ts";

export function Copyable({
  text,
  label,
  isMono = true,
}: {
  readonly text: string;
  readonly label: string;
  readonly isMono?: boolean;
}) {
  const { isCopied, copy } = useCopy(text, label);
  return (
    <span className="group inline-flex max-w-full items-center gap-1">
      <span className={`truncate ${isMono ? "font-mono text-small" : ""}`}>{text}</span>
      <IconButton
        label={`Copy ${label}`}
        icon={isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onPress={copy}
        className="-my-1 opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
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
