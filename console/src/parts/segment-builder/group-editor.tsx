/** A group of rules: whether all or one of them has to be met, and groups within it. */
import { ChevronRight, Plus, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Button, IconButton } from "../button.tsx";
import { Choice } from "../choice.tsx";
import {
  countRules,
  type DraftNode,
  type Fields,
  isGroup,
  newGroup,
  newRule,
  type SegmentDraft,
} from "./draft.ts";
import type { Preview } from "./preview.ts";
import { RuleRow } from "./rule-row.tsx";
import { GroupWords } from "./sentence.tsx";

/** Groups further in show what they say, and open on demand. */
const LEVELS_IN_VIEW = 2;

export interface GroupPlace {
  readonly listId: string;
  readonly fields: Fields;
  readonly preview: Preview;
  readonly faults: ReadonlyMap<string, string>;
  /** Rules of the whole segment. */
  readonly ruleCount: number;
  readonly ownId?: string | undefined;
}

interface Props {
  readonly group: SegmentDraft;
  readonly onChange: (group: SegmentDraft) => void;
  readonly place: GroupPlace;
  /** 1 for the outermost. */
  readonly level: number;
  readonly heading: ReactNode;
  /** At the end of the line of the heading. */
  readonly acts?: ReactNode;
  /** Just added: its first rule takes the focus. */
  readonly isNew?: boolean;
}

const logics: readonly { readonly id: SegmentDraft["logic"]; readonly name: string }[] = [
  { id: "and", name: "all of these" },
  { id: "or", name: "any of these" },
];

export function GroupEditor({ group, onChange, place, level, heading, acts, isNew = false }: Props) {
  const [added, setAdded] = useState(isNew ? group.rules[0]?.key : undefined);
  const addId = useId();
  const { fields, ruleCount } = place;
  const isFull = ruleCount >= fields.limits.conditions;
  const add = (node: DraftNode) => {
    setAdded(isGroup(node) ? node.rules[0]?.key : node.key);
    onChange({ ...group, rules: [...group.rules, node] });
  };
  const replace = (next: DraftNode) =>
    onChange({ ...group, rules: group.rules.map((one) => (one.key === next.key ? next : one)) });
  const remove = ({ key }: DraftNode) => {
    onChange({ ...group, rules: group.rules.filter((one) => one.key !== key) });
    document.getElementById(addId)?.focus();
  };
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        {heading}
        <Choice
          label="Rules to be met"
          isBare
          options={logics}
          selectedKey={group.logic}
          onSelectionChange={(logic) => onChange({ ...group, logic: logic as SegmentDraft["logic"] })}
        />
        {acts && <div className="ml-auto flex">{acts}</div>}
      </div>
      <ul className="mt-2">
        {group.rules.map((node, index) => (
          <li key={node.key} className="border-t border-line/60">
            {isGroup(node) ? (
              <InnerGroup
                group={node}
                level={level + 1}
                place={place}
                isNew={node.rules[0]?.key === added}
                onChange={replace}
                onRemove={() => remove(node)}
              />
            ) : (
              <RuleRow
                {...place}
                place={index + 1}
                rule={node}
                isNew={node.key === added}
                onChange={replace}
                onRemove={() => remove(node)}
              />
            )}
          </li>
        ))}
      </ul>
      <div className="mt-1 -ml-3 flex flex-wrap items-center gap-2">
        <Button id={addId} kind="quiet" onPress={() => add(newRule())} isDisabled={isFull}>
          <Plus size={15} aria-hidden /> Add a rule
        </Button>
        {level < fields.limits.depth && (
          <Button kind="quiet" onPress={() => add(newGroup())} isDisabled={isFull}>
            <Plus size={15} aria-hidden /> Add a group
          </Button>
        )}
        {isFull && (
          <span className="text-small text-muted">
            A segment has at most {fields.limits.conditions} rules.
          </span>
        )}
      </div>
    </>
  );
}

interface InnerProps extends Omit<Props, "heading" | "acts" | "isNew"> {
  readonly isNew: boolean;
  readonly onRemove: () => void;
}

function InnerGroup({ isNew, onRemove, ...rest }: InnerProps) {
  const { group, level, place } = rest;
  const [isOpen, setOpen] = useState(level <= LEVELS_IN_VIEW || isNew);
  const count = countRules(group);
  const acts = (
    <>
      {level > LEVELS_IN_VIEW && (
        <Button kind="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <ChevronRight size={15} aria-hidden className={isOpen ? "rotate-90" : ""} />
          {isOpen ? "Fold" : `Unfold ${count} ${count === 1 ? "rule" : "rules"}`}
        </Button>
      )}
      <IconButton label="Remove the group" icon={<X size={15} aria-hidden />} onPress={onRemove} />
    </>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw its own box
    <div role="group" aria-label="Group of rules" className="my-2 border-l-2 border-line pl-3">
      {isOpen ? (
        <GroupEditor {...rest} isNew={isNew} heading={<span>People who meet</span>} acts={acts} />
      ) : (
        <div className="flex items-start gap-2">
          <p className="min-w-0 flex-1 py-1.5">
            <GroupWords listId={place.listId} group={group} />
          </p>
          {acts}
        </div>
      )}
    </div>
  );
}
