/** The conditions as the API takes them, to be copied. */
import { CodeBlock } from "../../parts/code-block.tsx";
import type { Conditions } from "../../parts/segment-builder/draft.ts";

export function ConditionsJson({ conditions }: { readonly conditions: Conditions | undefined }) {
  if (!conditions) return <p className="text-muted">There is no finished rule yet.</p>;
  return (
    <>
      <p className="mb-2 text-muted">
        The finished rules as <code className="font-mono text-small">conditions</code> of an API call.
      </p>
      <CodeBlock label="conditions" text={JSON.stringify(conditions, null, 2)} />
    </>
  );
}
