/** How many people a draft selects now, of how many, and ten of them. */

import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Failure } from "../failure.tsx";
import { counted, countText, rateText } from "../numbers.ts";
import { nameOf } from "../person-name.ts";
import {
  type Conditions,
  draftOf,
  type Fields,
  fieldOf,
  rulesByPath,
  type SegmentDraft,
  textOf,
} from "./draft.ts";
import { type Preview, useSegmentPreview, useWithoutEach } from "./preview.ts";
import { useSegmentFields } from "./queries.ts";
import { GroupWords } from "./sentence.tsx";

interface Props {
  readonly listId: string;
  readonly value: SegmentDraft;
  /** Ten of the people below the number. */
  readonly withSamples?: boolean;
}

export function SegmentCount({ listId, value, withSamples = true }: Props) {
  const preview = useSegmentPreview(listId, value);
  const { read, counted: known, isOld, error, faults } = preview;
  const fields = useSegmentFields(listId).data;
  const isUncounted = read !== undefined && read.conditions === undefined;
  return (
    <div>
      <p className={`text-figure font-semibold tracking-tight ${isOld && known ? "opacity-60" : ""}`}>
        <span role="status">
          {known ? countText(known.count) : "–"}
          <span className="sr-only"> people</span>
        </span>
      </p>
      {isUncounted ? (
        <p className="min-h-5 text-muted">The count appears with the first finished rule.</p>
      ) : (
        fields && <Share listId={listId} fields={fields} conditions={read?.conditions} count={known?.count} />
      )}
      {read && read.unfinished > 0 && !isUncounted && (
        <p className="mt-1 text-small text-warning">
          {counted(read.unfinished, "rule")} {read.unfinished === 1 ? "is" : "are"} not finished and not
          counted.
        </p>
      )}
      {error && faults.size === 0 ? (
        <div className="mt-3">
          <Failure error={error} onRetry={preview.retry} />
        </div>
      ) : null}
      {known?.count === 0 && !isOld && read?.conditions && (
        <WhyEmpty listId={listId} conditions={read.conditions} preview={preview} />
      )}
      {withSamples && known?.samples && known.samples.length > 0 && (
        <Samples people={known.samples} count={known.count} />
      )}
    </div>
  );
}

/** The base is that of the count: active members, or all members once a rule names their status. */
function Share({
  listId,
  fields,
  conditions,
  count,
}: {
  readonly listId: string;
  readonly fields: Fields;
  readonly conditions: Conditions | undefined;
  readonly count: number | undefined;
}) {
  const { api, workspace } = usePlace();
  const { data: list } = useQuery({
    queryKey: ["list", workspace.id, listId, "size"],
    queryFn: ({ signal }) => api.getMailingList({ id: listId, signal }),
    enabled: mayCall(workspace, "getMailingList"),
  });
  const namesStatus = rulesByPath(conditions ?? { logic: "and", rules: [] }).some(
    ([, { field }]) => fieldOf(fields, field)?.type === "status",
  );
  if (!list || count === undefined) return <p className="min-h-5 text-muted">people</p>;
  return (
    <p className="min-h-5 text-muted">
      {count === 1 ? "person" : "people"},{" "}
      {rateText(count, namesStatus ? list.total_subscribers : list.subscriber_count)}{" "}
      {namesStatus ? "members" : "active members"}
    </p>
  );
}

function Samples({
  people,
  count,
}: {
  readonly people: readonly Schema<"Member">[];
  readonly count: number;
}) {
  const { workspace } = usePlace();
  return (
    <div>
      <h2 className="mt-5 mb-1 text-small font-medium text-muted">
        {count > people.length ? `The newest ${people.length} of them` : "Who they are"}
      </h2>
      <ul>
        {people.map((person) => (
          <li key={person.subscriber_id} className="truncate border-b border-line/60 py-1.5 text-table">
            <Link to={`/${workspace.id}/people/${person.subscriber_id}`} className="hover:underline">
              {person.email}
            </Link>
            <span className="ml-2 text-muted">{nameOf(person)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Which rule leaves no people. */
function WhyEmpty({
  listId,
  conditions,
  preview,
}: {
  readonly listId: string;
  readonly conditions: Conditions;
  readonly preview: Preview;
}) {
  const rules = rulesByPath(conditions).map(([, rule]) => rule);
  const impossible = rules.filter((rule) => preview.counted?.ofRules.get(textOf(rule)) === 0);
  const isAll = conditions.logic === "and";
  const without = useWithoutEach(listId, conditions, isAll && impossible.length === 0);
  const helping = conditions.rules.flatMap((node, index) => {
    const count = without?.[index] ?? 0;
    return count > 0 ? [{ node, count, index }] : [];
  });
  const words = (node: Conditions["rules"][number]) => (
    <GroupWords listId={listId} group={draftOf("rules" in node ? node : { logic: "and", rules: [node] })} />
  );
  if (impossible.length > 0)
    return (
      <div className="mt-3 border-l-2 border-warning px-3 text-table">
        <p>{impossible.length === 1 ? "No one meets this rule:" : "No one meets these rules:"}</p>
        <ul>
          {impossible.map((rule) => (
            <li key={textOf(rule)}>{words(rule)}</li>
          ))}
        </ul>
      </div>
    );
  if (!without) return null;
  return (
    <div className="mt-3 border-l-2 border-warning px-3 text-table">
      <p>Each rule is met by some people, but no person meets all of them.</p>
      {helping.length > 0 && (
        <ul className="mt-1">
          {helping.map(({ node, count, index }) => (
            <li key={String(index)}>
              {counted(count, "person", "people")} without: {words(node)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
