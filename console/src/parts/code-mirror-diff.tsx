/** The view of CodeMirror that compares two texts; loaded by code-diff.tsx. */
import { html } from "@codemirror/lang-html";
import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { CodeDiffProps } from "./code-diff.tsx";
import { codeLook } from "./code-look.ts";

export default function CodeMirrorDiff({ left, right }: CodeDiffProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const side = ({ name, text }: CodeDiffProps["left"]) => ({
      doc: text,
      extensions: [
        html(),
        codeLook(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": name }),
      ],
    });
    const view = new MergeView({
      a: side(left),
      b: side(right),
      parent: place.current as HTMLDivElement,
      collapseUnchanged: {},
    });
    return () => view.destroy();
  }, [left, right]);
  return <div ref={place} className="max-h-96 overflow-auto rounded-control border border-line" />;
}
