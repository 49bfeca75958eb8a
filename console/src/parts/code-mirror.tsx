/** CodeMirror as the console uses it: HTML, merge tags, search, folding, marks; loaded by code-editor.tsx. */
import {
  autocompletion,
  type CompletionContext,
  type CompletionSource,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { html, htmlLanguage } from "@codemirror/lang-html";
import { bracketMatching, foldGutter, foldKeymap, syntaxTree } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useEffectEvent, useId, useImperativeHandle, useRef } from "react";
import type { CodeEditorProps, CodeMark, MergeTag } from "./code-editor.tsx";
import { codeLook } from "./code-look.ts";
import { editorKeys, leavingByTab, useTabSwitch } from "./code-tab.ts";
import { keyText, useKeys } from "./keys.ts";

/** A change that did not come from the person. */
const isFromOutside = Annotation.define<boolean>();

export default function CodeMirror({ label, value, onChange, language, tags, marks, ref }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useEffectEvent(onChange);
  const knownTags = useEffectEvent(() => tags);
  const id = useId();
  const tab = useTabSwitch();
  useKeys(editorKeys);

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later values come through the effects below
  useEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: value,
        extensions: [
          languageOf(language, () => knownTags()),
          lineNumbers(),
          foldGutter(),
          lintGutter(),
          history(),
          drawSelection(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          leavingByTab(tab),
          keymap.of([
            ...completionKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            indentWithTab,
          ]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({
            tabindex: "0",
            "aria-label": label,
            "aria-describedby": `${id}-keys`,
          }),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            const isOwn = transactions.every((one) => one.annotation(isFromOutside) === undefined);
            if (docChanged && isOwn) changed(state.doc.toString());
          }),
          codeLook(),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- as above
  }, []);

  useEffect(() => {
    const { current } = view;
    if (!current || current.state.doc.toString() === value) return;
    current.dispatch({
      changes: { from: 0, to: current.state.doc.length, insert: value },
      annotations: isFromOutside.of(true),
    });
  }, [value]);

  useEffect(() => {
    const { current } = view;
    if (current)
      current.dispatch(
        setDiagnostics(
          current.state,
          (marks ?? []).map((mark) => diagnosticOf(current.state, mark)),
        ),
      );
  }, [marks]);

  useImperativeHandle(ref, () => ({
    jumpTo(line, column) {
      const { current } = view;
      if (!current) return;
      const head = placeOf(current.state, line, column);
      current.dispatch({
        selection: { anchor: head },
        effects: EditorView.scrollIntoView(head, { y: "center" }),
      });
      current.focus();
    },
    anchored: () => (view.current ? anchored(view.current.state) : { text: value, id: undefined }),
  }));

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div
        ref={place}
        className="min-h-0 flex-1 overflow-hidden p-0.5 -outline-offset-2 outline-accent focus-within:outline-2"
      />
      <p id={`${id}-keys`} className="px-3 py-1 text-small text-muted">
        {tab.words} <span className="max-md:hidden">{keyText("mod+f")} searches.</span>
      </p>
    </div>
  );
}

function languageOf(language: "html" | "text", tags: () => readonly MergeTag[]) {
  const source = mergeTags(tags);
  if (language === "text") return autocompletion({ override: [source] });
  return [html({ autoCloseTags: true }), htmlLanguage.data.of({ autocomplete: source }), autocompletion()];
}

/** Completes names within `{{ }}`, and within `{% %}`. */
function mergeTags(tags: () => readonly MergeTag[]): CompletionSource {
  return (context: CompletionContext) => {
    const before = context.matchBefore(/\{[{%][^{}%]*/);
    if (!before) return null;
    const word = /[\w.]*$/.exec(before.text)?.[0] ?? "";
    const isFilter = /\|[^|]*$/.test(before.text);
    if (isFilter) return null;
    const isOutput = before.text.startsWith("{{");
    const isClosed = context.state
      .sliceDoc(context.pos, context.pos + 200)
      .trimStart()
      .startsWith(isOutput ? "}}" : "%}");
    const lead = isOutput && before.text === "{{" ? " " : "";
    return {
      from: context.pos - word.length,
      options: tags().map(({ name, meaning, example }) => ({
        label: name,
        detail: meaning,
        ...(example !== null && { info: `For example: ${example}` }),
        apply: `${lead}${name}${isOutput && !isClosed ? " }}" : ""}`,
        type: "variable",
      })),
      validFor: /^[\w.]*$/,
    };
  };
}

function placeOf({ doc }: EditorState, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  return Math.min(to, from + Math.max(0, column - 1));
}

function diagnosticOf(state: EditorState, { line, column, severity, message }: CodeMark): Diagnostic {
  const from = placeOf(state, line, column);
  const word = /^(?:\{[{%][^}]*[}%]?\}?|<\/?[\w-]+|[\w-]+|.)/.exec(
    state.doc.lineAt(from).text.slice(from - state.doc.lineAt(from).from),
  );
  return { from, to: Math.min(state.doc.length, from + (word?.[0].length ?? 0)), severity, message };
}

const ANCHOR = "edited-here";

/** The opening tag around the cursor gets an id, or the one it has is used. */
function anchored(state: EditorState): { text: string; id: string | undefined } {
  const text = state.doc.toString();
  let node: ReturnType<ReturnType<typeof syntaxTree>["resolveInner"]> | null = syntaxTree(state).resolveInner(
    state.selection.main.head,
    -1,
  );
  for (; node; node = node.parent) {
    const open = node.name === "Element" ? node.getChild("OpenTag") : null;
    const name = open?.getChild("TagName");
    if (
      !open ||
      !name ||
      !/^(?:p|h\d|td|tr|table|div|ul|ol|li|a|img|section|blockquote|span)$/i.test(
        text.slice(name.from, name.to),
      )
    )
      continue;
    const own = /\sid\s*=\s*["']([^"'{}]+)["']/.exec(text.slice(open.from, open.to));
    if (own) return { text, id: own[1] };
    return { text: `${text.slice(0, name.to)} id="${ANCHOR}"${text.slice(name.to)}`, id: ANCHOR };
  }
  return { text, id: undefined };
}
