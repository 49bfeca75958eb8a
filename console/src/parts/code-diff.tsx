/** Two versions of a text side by side, with what differs marked. */
import { lazy, Suspense } from "react";

export interface CodeDiffProps {
  readonly left: { readonly name: string; readonly text: string };
  readonly right: { readonly name: string; readonly text: string };
}

const CodeMirrorDiff = lazy(() => import("./code-mirror-diff.tsx"));

export function CodeDiff(props: CodeDiffProps) {
  return (
    <Suspense fallback={<div aria-busy className="h-80 animate-appear bg-sunken" />}>
      <CodeMirrorDiff {...props} />
    </Suspense>
  );
}
