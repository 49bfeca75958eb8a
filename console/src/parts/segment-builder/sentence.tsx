/** Conditions as a sentence: "People in Customers whose plan is pro and who opened Spring". */

import { Fragment, type ReactNode } from "react";
import { useCampaignLinks } from "../../api/campaign-links.ts";
import { useLists } from "../../api/lists.ts";
import { useAllSegments } from "../../api/segments.ts";
import {
  type DraftNode,
  type DraftRule,
  fieldOf,
  isFinished,
  isGroup,
  operatorOf,
  type SegmentDraft,
} from "./draft.ts";
import { useCampaignName, useSegmentFields } from "./queries.ts";
import { fieldWords, isAboutPeople, operatorWords } from "./words.ts";

interface Props {
  readonly listId: string;
  readonly listName: string;
  readonly draft: SegmentDraft;
}

export function SegmentSentence({ listId, listName, draft }: Props) {
  return (
    <>
      People in <strong className="font-semibold">{listName}</strong>{" "}
      <GroupWords listId={listId} group={draft} />
    </>
  );
}

/** A group within a sentence. */
export function GroupWords({ listId, group }: { readonly listId: string; readonly group: SegmentDraft }) {
  const { data } = useSegmentFields(listId);
  if (!data) return null;
  const isSaid = (node: DraftNode): boolean =>
    isGroup(node) ? node.rules.some(isSaid) : isFinished(node, data);
  const said = group.rules.filter(isSaid);
  return said.map((node, index) => (
    // By its place: a draft of saved conditions has new keys each time it is made.
    <Fragment key={String(index)}>
      {index > 0 && <span className="text-muted"> {group.logic} </span>}
      {isGroup(node) && said.length === 1 ? (
        <GroupWords listId={listId} group={node} />
      ) : isGroup(node) ? (
        <>
          (<GroupWords listId={listId} group={node} />)
        </>
      ) : (
        <RuleWords listId={listId} rule={node} />
      )}
    </Fragment>
  ));
}

function RuleWords({ listId, rule }: { readonly listId: string; readonly rule: DraftRule }) {
  const { data } = useSegmentFields(listId);
  const field = data && fieldOf(data, rule.field);
  const takes = operatorOf(field, rule.operator)?.value;
  const words = operatorWords(rule.operator, field?.type);
  const value = takes ? (
    <ValueWords type={takes.type} value={rule.value} field={field} />
  ) : (
    <Strong>{shown(rule.value)}</Strong>
  );
  if (field && isAboutPeople(field))
    return (
      <>
        who {words} {value}
      </>
    );
  return (
    <>
      whose {field ? fieldWords(field) : <code className="font-mono text-small">{rule.field}</code>} {words}
      {takes?.type !== "none" && <> {value}</>}
    </>
  );
}

function ValueWords({
  type,
  value,
  field,
}: {
  readonly type: string;
  readonly value: unknown;
  readonly field: ReturnType<typeof fieldOf>;
}): ReactNode {
  const id = typeof value === "string" ? value : "";
  switch (type) {
    case "segment":
      return <SegmentName id={id} />;
    case "mailing_list":
      return <ListName id={id} />;
    case "campaign":
      return <CampaignName id={id} />;
    case "campaign_link":
      return <LinkName value={value} />;
    case "days":
      return <Strong>{value === 1 ? "day" : `${shown(value)} days`}</Strong>;
    default: {
      const labels = new Map(field?.values?.map((one) => [one.value, one.label]));
      const values = (Array.isArray(value) ? value : [value]).map(
        (one) => labels.get(String(one)) ?? shown(one),
      );
      return <Strong>{listed(values)}</Strong>;
    }
  }
}

function Strong({ children }: { readonly children: ReactNode }) {
  return <strong className="font-semibold break-words">{children}</strong>;
}

function SegmentName({ id }: { readonly id: string }) {
  const { data } = useAllSegments();
  return (
    <Named name={data?.find((one) => one.id === id)?.name} isLoaded={data !== undefined} noun="segment" />
  );
}

function ListName({ id }: { readonly id: string }) {
  const lists = useLists();
  return (
    <Named name={lists?.find((one) => one.id === id)?.name} isLoaded={lists !== undefined} noun="list" />
  );
}

function CampaignName({ id }: { readonly id: string }) {
  return <Strong>{useCampaignName(id) ?? "…"}</Strong>;
}

function LinkName({ value }: { readonly value: unknown }) {
  const { campaign_id = "", link } = (value ?? {}) as {
    readonly campaign_id?: string;
    readonly link?: number;
  };
  const { data } = useCampaignLinks(campaign_id);
  return (
    <>
      <CampaignName id={campaign_id} /> (
      <Strong>{data?.find(({ index }) => index === link)?.url ?? "…"}</Strong>)
    </>
  );
}

function Named({
  name,
  isLoaded,
  noun,
}: {
  readonly name: string | undefined;
  readonly isLoaded: boolean;
  readonly noun: string;
}) {
  return <Strong>{name ?? (isLoaded ? `a deleted ${noun}` : "…")}</Strong>;
}

function shown(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}

const MOST_LISTED = 5;

function listed(values: readonly string[]): string {
  const rest = values.length - MOST_LISTED;
  const near = rest > 0 ? [...values.slice(0, MOST_LISTED), `${rest} more`] : values;
  return new Intl.ListFormat("en", { type: "disjunction" }).format(near);
}
