/** The conditions as the API takes them, to be copied. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { say } from "../../parts/live-region.ts";
import type { Conditions } from "../../parts/segment-builder/draft.ts";

const SHOWN_MS = 1_500;

export function ConditionsJson({ conditions }: { readonly conditions: Conditions | undefined }) {
  const [isCopied, setCopied] = useState(false);
  if (!conditions) return <p className="text-muted">There is no finished rule yet.</p>;
  const text = JSON.stringify(conditions, null, 2);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say("The conditions are copied");
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <>
      <div className="mb-2 flex items-center gap-3">
        <p className="text-muted">
          The finished rules as <code className="font-mono text-small">conditions</code> of an API call.
        </p>
        <Button className="ml-auto" onPress={() => void copy()}>
          {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />} Copy
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled by the keyboard */}
      <pre tabIndex={0} className="overflow-auto rounded-control bg-sunken p-4 font-mono text-small">
        {text}
      </pre>
    </>
  );
}
