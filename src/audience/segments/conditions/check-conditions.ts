/** Checks a caller's conditions completely, before they are counted or saved. */

import { findUnknownNames } from "#audience/custom-fields/find-unknown-names.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { KnownNames } from "#platform/http/request/name-suggestions.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { CUSTOM, markedName } from "./bind-conditions.ts";
import type { Segmentation } from "./bound-rule.ts";
import { builtInFields } from "./built-in-fields.ts";
import { type Condition, type Conditions, eachRule, readConditions, ruleFault } from "./conditions.ts";
import { type ListConditions, openBinder, referencesIn } from "./load-and-bind.ts";
import { listCampaignIds, listNameable, listReferences, type Reference } from "./load-references-store.ts";
import { referenceFault } from "./reference-limits.ts";

/** Limit of faults in one answer. */
const MOST_FAULTS = 10;

export interface CheckedConditions {
  readonly conditions: Conditions;
  readonly segmentation: Segmentation;
  readonly referenced_segments: string[];
  readonly rule_count: number;
}

/**
 * @param segmentId of the segment that will have the conditions, if it exists
 * @throws ApiError VALIDATION_ERROR with the path of each invalid rule
 */
export async function checkConditions(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  given: unknown,
  now: Date,
  segmentId?: string,
): Promise<CheckedConditions> {
  const conditions = readConditions(given);
  const target = { mailing_list_id: mailingListId, conditions };
  const binder = await openBinder(db, workspaceId, [target], now);
  const faults: FieldFault[] = [];
  const segmentation = binder.bind(target, (path, message) => faults.push(ruleFault(path, message)));
  faults.push(...(await unknownReferences(db, workspaceId, target)));
  faults.push(...(await unknownNames(db, workspaceId, target, binder.fieldNames(mailingListId))));
  const [first, ...rest] = faults.slice(0, MOST_FAULTS);
  if (first !== undefined) throw invalid(first, ...rest);
  const checked = {
    conditions,
    segmentation,
    referenced_segments: referencesIn(conditions, "segment").map(({ id }) => id),
    rule_count: [...eachRule<Condition>(conditions)].length,
  };
  if (segmentId !== undefined || checked.referenced_segments.length > 0) {
    await checkReferences(db, workspaceId, { id: segmentId ?? newId(), ...checked });
  }
  return checked;
}

/** Faults of unknown ids: the same for an id that does not exist and for another workspace's. */
async function unknownReferences(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id, conditions }: ListConditions,
): Promise<FieldFault[]> {
  const segments = referencesIn(conditions, "segment");
  const lists = referencesIn(conditions, "mailing_list");
  const campaigns = referencesIn(conditions, "campaign");
  const idsOf = (named: typeof segments) => named.map(({ id }) => id);
  const faultsOf = (named: typeof segments, known: ReadonlySet<string>, what: string) =>
    named
      .filter(({ id }) => !known.has(id))
      .map(({ path }) => ruleFault(path, `value is no ${what} of this workspace`));
  const ids = { segments: idsOf(segments), lists: idsOf(lists) };
  const namesAny = segments.length + lists.length > 0;
  const nameable = namesAny ? await listNameable(db, workspaceId, mailing_list_id, ids) : noIds;
  const sent =
    campaigns.length > 0 ? new Set(await listCampaignIds(db, workspaceId, idsOf(campaigns))) : noIds;
  return [
    ...faultsOf(segments, nameable, "segment"),
    ...faultsOf(lists, nameable, "mailing list"),
    ...faultsOf(campaigns, sent, "campaign"),
  ];
}

const noIds: ReadonlySet<string> = new Set();

/**
 * Faults of rules on custom fields that no list defines and no person has a value of: probably misspelled, and would
 * match no one.
 */
async function unknownNames(
  db: Queryable,
  workspaceId: WorkspaceId,
  { conditions }: ListConditions,
  defined: readonly string[],
): Promise<FieldFault[]> {
  const isDefined = new Set(defined);
  const rules = Array.from(eachRule<Condition>(conditions)).flatMap(([path, { field }]) => {
    const name = markedName(field);
    return name === undefined || isDefined.has(name) ? [] : { path, name };
  });
  const names = rules.map(({ name }) => name);
  const unknown = await findUnknownNames(db, workspaceId, names);
  if (unknown.length === 0) return [];
  const known = new KnownNames([...builtInFields.keys(), ...defined]);
  return rules
    .filter(({ name }) => unknown.includes(name))
    .map(({ path, name }) => {
      const meant = known.nearestTo(name);
      const written = meant !== undefined && isDefined.has(meant) ? `${CUSTOM}${meant}` : meant;
      const hint = written === undefined ? "" : `: did you mean ${written}?`;
      return ruleFault(path, `no list defines the field ${name}, and no person has a value of it${hint}`);
    });
}

/** Checks the limits of references, including those of segments that refer to this one. */
async function checkReferences(
  db: Queryable,
  workspaceId: WorkspaceId,
  checked: Reference & CheckedConditions,
): Promise<void> {
  const others = (await listReferences(db, workspaceId)).filter(({ id }) => id !== checked.id);
  const faultWith = (referenced_segments: readonly string[]) =>
    referenceFault([...others, { ...checked, referenced_segments }]);
  const fault = faultWith(checked.referenced_segments);
  if (fault === undefined) return;
  const culprit = referencesIn(checked.conditions, "segment").find(({ id }) => faultWith([id]));
  throw invalid(ruleFault(culprit?.path ?? "conditions", `segments ${fault}`));
}
