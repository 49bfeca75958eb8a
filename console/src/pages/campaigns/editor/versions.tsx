/** Two versions of the same fields: two people changed them, or a former visit left changes behind. Either is taken; the other is kept. */
import { useMemo, useState } from "react";
import { useLists } from "../../../api/lists.ts";
import { useAllSegments } from "../../../api/segments.ts";
import { Button } from "../../../parts/button.tsx";
import { CodeDiff } from "../../../parts/code-diff.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { counted } from "../../../parts/numbers.ts";
import { type Conditions, draftOf } from "../../../parts/segment-builder/draft.ts";
import { GroupWords } from "../../../parts/segment-builder/sentence.tsx";
import { Segmented } from "../../../parts/segmented.tsx";
import { Time } from "../../../parts/time.tsx";
import { type Draft, fieldNames } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

type Taken = "mine" | "theirs";

export function ConflictDialog({ state, autosave, onClose }: OpenDraft & { readonly onClose: () => void }) {
  const { conflict, draft } = state;
  const [taken, setTaken] = useState<Readonly<Record<string, Taken>>>({});
  if (!conflict) return null;
  return (
    <Dialog title="Someone else changed the same" isOpen onClose={onClose} isWide>
      <p className="text-muted">
        Choose which version the campaign has. The other one is kept on this device and can be restored.
      </p>
      {conflict.names.map((name) => (
        <div key={name} className="mt-4 flex flex-col gap-2">
          <Segmented
            label={fieldNames[name]}
            value={taken[name] ?? "mine"}
            onChange={(value) => setTaken({ ...taken, [name]: value })}
            segments={[
              { id: "mine", name: "Yours" },
              { id: "theirs", name: "Theirs" },
            ]}
          />
          <Comparison
            name={name}
            mine={draft[name]}
            theirs={conflict.theirs[name]}
            names={["Yours", "Theirs"]}
            listId={draft.mailing_list_id}
          />
        </div>
      ))}
      <div className="mt-6 flex justify-end gap-2">
        <Button onPress={onClose}>Decide later</Button>
        <Button
          kind="primary"
          onPress={() => {
            void autosave.resolve(taken);
            onClose();
          }}
        >
          Use these
        </Button>
      </div>
    </Dialog>
  );
}

export function FoundDialog({ state: { found, draft }, autosave }: OpenDraft) {
  if (!found) return null;
  const names = (Object.keys(found.changed) as (keyof Draft)[]).filter((name) => name in fieldNames);
  const take = () => autosave.takeFound();
  return (
    <Dialog title="Changes that were not saved" isOpen onClose={take} isWide>
      <p className="text-muted">
        You wrote them on this device. The last was <Time at={new Date(found.at).toISOString()} />.
      </p>
      {names.map((name) => (
        <div key={name} className="mt-4 flex flex-col gap-2">
          <h3 className="font-medium">{fieldNames[name]}</h3>
          <Comparison
            name={name}
            mine={found.changed[name]}
            theirs={draft[name]}
            names={["On this device", "Saved"]}
            listId={draft.mailing_list_id}
          />
        </div>
      ))}
      <div className="mt-6 flex flex-wrap justify-end gap-2">
        <Button onPress={() => void autosave.leaveFound()}>Use the saved version</Button>
        <Button kind="primary" onPress={take}>
          Continue with your changes
        </Button>
      </div>
    </Dialog>
  );
}

function Comparison({
  name,
  mine,
  theirs,
  names: [left, right],
  listId,
}: {
  readonly name: keyof Draft;
  readonly mine: unknown;
  readonly theirs: unknown;
  readonly names: readonly [string, string];
  /** The list of the draft, whose fields conditions have. */
  readonly listId: string | null;
}) {
  const texts = useMemo(
    () => ({
      left: { name: left, value: mine, text: wordsOf(mine) },
      right: { name: right, value: theirs, text: wordsOf(theirs) },
    }),
    [left, right, mine, theirs],
  );
  if (name === "html_content" || name === "text_content") return <CodeDiff {...texts} />;
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-2">
      {[texts.left, texts.right].map((side) => (
        <div key={side.name} className="min-w-0 rounded-control bg-sunken px-3 py-2">
          <dt className="text-small text-muted">{side.name}</dt>
          <dd className="break-words">
            <Value name={name} value={side.value} listId={listId} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A value in words: lists and segments by their names, conditions as a sentence. */
function Value({
  name,
  value,
  listId,
}: {
  readonly name: keyof Draft;
  readonly value: unknown;
  readonly listId: string | null;
}) {
  const lists = useLists();
  const { data: segments } = useAllSegments();
  if (value === null || value === undefined || value === "") {
    return <span className="text-muted">Nothing</span>;
  }
  switch (name) {
    case "mailing_list_id":
      return lists?.find(({ id }) => id === value)?.name ?? "Another list";
    case "segment_id":
      return segments?.find(({ id }) => id === value)?.name ?? "Another segment";
    case "segment_conditions":
      return <ConditionsWords conditions={value as Conditions} listId={listId} />;
    case "scheduled_at":
      return <Time at={value as string} isPrecise />;
    default:
      return wordsOf(value);
  }
}

function ConditionsWords({
  conditions,
  listId,
}: {
  readonly conditions: Conditions;
  readonly listId: string | null;
}) {
  const draft = useMemo(() => draftOf(conditions), [conditions]);
  if (listId === null) return counted(conditions.rules.length, "condition");
  return (
    <>
      People <GroupWords listId={listId} group={draft} />
    </>
  );
}

function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "On" : "Off";
  if (Array.isArray(value))
    return value.map((one) => (one as { filename?: string }).filename ?? "").join(", ");
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
