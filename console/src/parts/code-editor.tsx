/** An editor for HTML or text, a chunk of its own that loads when it is shown. */
import type { Schema } from "@posthaste/client";
import { lazy, type Ref, Suspense } from "react";

/** A place that something is said about, from 1. */
export interface CodeMark {
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
}

export type MergeTag = Pick<Schema<"MergeTag">, "name" | "meaning" | "example">;

export interface CodeEditorHandle {
  readonly jumpTo: (line: number, column: number) => void;
  /** The text with an id at the element that is being edited, and that id, so that a preview can begin there. */
  readonly anchored: () => { readonly text: string; readonly id: string | undefined };
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly language: "html" | "text";
  /** Names that are completed within `{{ }}`. */
  readonly tags: readonly MergeTag[];
  readonly marks?: readonly CodeMark[];
  readonly ref?: Ref<CodeEditorHandle>;
}

const CodeMirror = lazy(() => import("./code-mirror.tsx"));

export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<div aria-busy className="h-full min-h-60 animate-appear bg-sunken" />}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
