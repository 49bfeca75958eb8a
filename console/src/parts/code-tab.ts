/**
 * What Tab does in the code editor. It indents while the person writes; after Esc, and before the first key, it leaves the editor,
 * without a limit of time. Ctrl+M lets it always leave.
 */
import type { Extension } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { useRef, useState } from "react";
import type { Shortcuts } from "./keys.ts";
import { say } from "./live-region.ts";

/** For the sheet of shortcuts; the editor acts on them itself. */
export const editorKeys: Shortcuts = {
  "Escape Tab": { name: "Leave the editor", group: "Editor" },
  "Ctrl+M": { name: "Let Tab leave the editor, or indent", group: "Editor" },
  "mod+f": { name: "Search in the text", group: "Editor" },
};

interface TabSwitch {
  /** For everyone: what Tab does now, and how it leaves. */
  readonly words: string;
  readonly alwaysLeaves: () => boolean;
  readonly toggle: () => void;
}

export function useTabSwitch(): TabSwitch {
  const [leaves, setLeaves] = useState(false);
  const now = useRef(leaves);
  return {
    words: leaves
      ? "Tab leaves the editor. Ctrl+M lets it indent."
      : "Tab indents. Esc, then Tab or Shift+Tab leaves the editor; Ctrl+M lets Tab always leave it.",
    alwaysLeaves: () => now.current,
    toggle() {
      now.current = !now.current;
      setLeaves(now.current);
      say(now.current ? "Tab leaves the editor" : "Tab indents");
    },
  };
}

export function leavingByTab({ alwaysLeaves, toggle }: TabSwitch): Extension {
  // The next key that is no modifier ends this, and so does a click.
  const leave = (view: EditorView) => view.setTabFocusMode(Number.POSITIVE_INFINITY);
  const follow = (view: EditorView) => view.setTabFocusMode(alwaysLeaves());
  return [
    keymap.of([
      {
        key: "Ctrl-m",
        run(view) {
          toggle();
          follow(view);
          return true;
        },
      },
    ]),
    EditorView.domEventObservers({
      focus: (_, view) => leave(view),
      keydown(event, view) {
        // After CodeMirror's own handler, which gives the person two seconds.
        if (event.key === "Escape") queueMicrotask(() => leave(view));
      },
      click: (_, view) => follow(view),
    }),
  ];
}
