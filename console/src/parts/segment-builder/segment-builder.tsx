/**
 * Says who is in a segment, in rules that read as a sentence. Fields, conditions, values and limits are those of the API. The
 * page that uses it keeps the draft: `draftOf` begins one, `useConditions` gives its finished rules.
 */
import { Failure } from "../failure.tsx";
import { countRules, type SegmentDraft } from "./draft.ts";
import { GroupEditor } from "./group-editor.tsx";
import { useSegmentPreview } from "./preview.ts";
import { useSegmentFields } from "./queries.ts";

interface Props {
  readonly listId: string;
  readonly listName: string;
  readonly value: SegmentDraft;
  readonly onChange: (draft: SegmentDraft) => void;
  /** Refusals of the last attempt to save: `faultsByRule`. */
  readonly faults?: ReadonlyMap<string, string>;
  /** The segment that is edited, which cannot name itself. */
  readonly ownId?: string | undefined;
}

const noFaults: ReadonlyMap<string, string> = new Map();
const SKELETON_ROWS = 3;

export function SegmentBuilder({ listId, listName, value, onChange, faults = noFaults, ownId }: Props) {
  const { data: fields, error, refetch } = useSegmentFields(listId);
  const preview = useSegmentPreview(listId, value);
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!fields)
    return (
      <div aria-busy="true" className="flex flex-col gap-3 pt-1">
        {Array.from({ length: SKELETON_ROWS }, (_, index) => (
          <span key={String(index)} className="block h-9 rounded bg-sunken" />
        ))}
      </div>
    );
  return (
    <GroupEditor
      group={value}
      onChange={onChange}
      level={1}
      place={{ listId, fields, preview, faults, ruleCount: countRules(value), ownId }}
      heading={
        <span>
          People in <strong className="font-semibold">{listName}</strong> who meet
        </span>
      }
    />
  );
}
