/** A text for a program or a terminal, whole, with a button that copies it. */
import { Check, Copy } from "lucide-react";
import { IconButton } from "./button.tsx";
import { useCopy } from "./copyable.tsx";

export function CodeBlock({ label, text }: { readonly label: string; readonly text: string }) {
  const { isCopied, copy } = useCopy(text, label);
  return (
    <div className="flex items-start gap-2 rounded-control bg-sunken py-1.5 pr-1.5 pl-3">
      <pre className="min-w-0 flex-1 py-1.5 font-mono text-small break-all whitespace-pre-wrap">{text}</pre>
      <IconButton
        label={`Copy the ${label}`}
        icon={isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onPress={copy}
      />
    </div>
  );
}
