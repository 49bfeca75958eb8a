/** What is in the mail: subject, HTML, text part and files. */
import { type Ref, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { CodeEditor, type CodeEditorHandle, type CodeMark } from "../../../parts/code-editor.tsx";
import { Field } from "../../../parts/field.tsx";
import { Segmented } from "../../../parts/segmented.tsx";
import { offerUndo } from "../../../parts/undo.tsx";
import type { Check } from "../findings.tsx";
import { InboxLine } from "../inbox-line.tsx";
import { Attachments } from "./attachments.tsx";
import { textOrNull } from "./draft.ts";
import { useMergeTags } from "./merge-tags.ts";
import type { OpenDraft } from "./use-draft.ts";
import type { Rendered } from "./use-render.ts";

export type ContentPart = "html" | "text" | "files";

interface Props {
  readonly open: OpenDraft;
  readonly part: ContentPart;
  readonly onPart: (part: ContentPart) => void;
  readonly check: Check | undefined;
  readonly mail: Rendered | undefined;
  readonly htmlEditor: Ref<CodeEditorHandle>;
  readonly textEditor: Ref<CodeEditorHandle>;
}

export function ContentStep({ open, part, onPart, check, mail, htmlEditor, textEditor }: Props) {
  const { draft, edit } = open;
  const tags = useMergeTags(draft.mailing_list_id);
  const files = draft.attachments.length;
  return (
    <div className="flex h-full min-h-0 flex-col gap-3">
      <div className="flex flex-col gap-2 px-6">
        <Field label="Subject" value={draft.subject} onChange={(subject) => edit({ subject })} isRequired />
        <InboxLine
          from={mail?.from.name ?? mail?.from.email ?? draft.from_name ?? draft.from_email}
          subject={mail?.subject ?? draft.subject}
          preview={mail?.preview_text ?? ""}
        />
      </div>
      <div className="px-6">
        <Segmented
          label="Part of the mail"
          isBare
          value={part}
          onChange={onPart}
          segments={[
            { id: "html", name: "HTML" },
            { id: "text", name: "Text" },
            { id: "files", name: files === 0 ? "Attachments" : `Attachments (${files})` },
          ]}
        />
      </div>
      <div className={`min-h-72 flex-1 border-t border-line ${part === "html" ? "" : "hidden"}`}>
        <CodeEditor
          ref={htmlEditor}
          label="HTML"
          language="html"
          value={draft.html_content ?? ""}
          onChange={(text) => edit({ html_content: textOrNull(text) })}
          tags={tags}
          marks={marksOf(check, "html_content")}
        />
      </div>
      {part === "text" && (
        <TextPart
          open={open}
          mail={mail}
          marks={marksOf(check, "text_content")}
          tags={tags}
          ref={textEditor}
        />
      )}
      {part === "files" && (
        <div className="min-h-0 flex-1 overflow-auto border-t border-line px-6 py-4">
          <Attachments {...open} />
        </div>
      )}
    </div>
  );
}

function TextPart({
  open: { draft, edit },
  mail,
  marks,
  tags,
  ref,
}: {
  readonly open: OpenDraft;
  readonly mail: Rendered | undefined;
  readonly marks: readonly CodeMark[];
  readonly tags: ReturnType<typeof useMergeTags>;
  readonly ref: Ref<CodeEditorHandle>;
}) {
  const [isOwn, setOwn] = useState(draft.text_content !== null);
  if (!isOwn && draft.text_content === null) {
    return (
      <div className="flex min-h-0 flex-1 flex-col border-t border-line">
        <p className="flex flex-wrap items-center gap-3 px-6 py-2 text-muted">
          Made from the HTML of each mail.
          <Button onPress={() => setOwn(true)}>Write a text of its own</Button>
        </p>
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls has to be reached with the keyboard
          tabIndex={0} // oxlint-disable-line jsx-a11y/no-noninteractive-tabindex -- as above
          className="min-h-0 flex-1 overflow-auto border-t border-line px-6 py-3 font-mono text-small whitespace-pre-wrap"
        >
          {mail?.text}
        </pre>
      </div>
    );
  }
  const former = draft.text_content;
  return (
    <div className="flex min-h-0 flex-1 flex-col border-t border-line">
      <p className="px-6 py-2">
        <Button
          onPress={() => {
            setOwn(false);
            edit({ text_content: null });
            if (former !== null)
              offerUndo("The text is made from the HTML", () => edit({ text_content: former }));
          }}
        >
          Make it from the HTML
        </Button>
      </p>
      <div className="min-h-0 flex-1 border-t border-line">
        <CodeEditor
          ref={ref}
          label="Text"
          language="text"
          value={draft.text_content ?? ""}
          onChange={(text) => edit({ text_content: textOrNull(text) })}
          tags={tags}
          marks={marks}
        />
      </div>
    </div>
  );
}

/** The findings of a field that have a place in it. */
export function marksOf(check: Check | undefined, field: string): readonly CodeMark[] {
  return (check?.findings ?? []).flatMap(({ field: named, line, column, severity, message, fix }) =>
    named === field && line !== null
      ? [{ line, column: column ?? 1, severity, message: fix === null ? message : `${message} ${fix}` }]
      : [],
  );
}
