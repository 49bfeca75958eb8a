/** Loads from the database what conditions refer to, and binds them. */

import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { bind, type OnFault } from "./bind-conditions.ts";
import type { BindingScope, FieldDefinition } from "./binding-scope.ts";
import type { Segmentation } from "./bound-rule.ts";
import { readCampaignId } from "./campaign-kind.ts";
import { type Condition, type Conditions, eachRule } from "./conditions.ts";
import { listSparse } from "./list-sizes-store.ts";
import {
  listCampaignIds,
  listConditionsOf,
  listDefinitions,
  type StoredConditions,
} from "./load-references-store.ts";
import { readIdValue } from "./reference-kinds.ts";

/** Maximum depth of references. Saving enforces it; here it stops a circle. */
export const DEEPEST_REFERENCE = 10;

/** Conditions on a list: those of a segment with its list, or unsaved ones. */
export type ListConditions = Pick<StoredConditions, "mailing_list_id" | "conditions">;

export interface Binder {
  bind(target: ListConditions, onFault?: OnFault): Segmentation;
  /** Names of the custom fields in force on a list of the targets. */
  fieldNames(mailingListId: string): string[];
}

/** Loads what these conditions refer to. */
export async function openBinder(
  db: Queryable,
  workspaceId: WorkspaceId,
  targets: readonly ListConditions[],
  now: Date,
): Promise<Binder> {
  const ids = targets.flatMap(({ conditions }) => referencesIn(conditions, "segment").map(({ id }) => id));
  const stored = ids.length === 0 ? [] : await listConditionsOf(db, workspaceId, ids);
  const listIds = new Set([...targets, ...stored].map((target) => target.mailing_list_id));
  const definitions = await listDefinitions(db, workspaceId, [...listIds]);
  const timeZone = (await findWorkspace(db, workspaceId))?.timezone ?? "UTC";
  const campaigns = [...targets, ...stored].flatMap(({ conditions }) =>
    referencesIn(conditions, "campaign").map(({ id }) => id),
  );
  const knownCampaigns = campaigns.length === 0 ? [] : await listCampaignIds(db, workspaceId, campaigns);
  const lists = targets.map((target) => target.mailing_list_id);
  const sparseLists = await listSparse(db, workspaceId, [...new Set(lists)]);
  return createBinder({
    now,
    timeZone,
    stored,
    definitions,
    sparseLists,
    campaigns: new Set(knownCampaigns),
  });
}

/** The ids that rules on a field refer to, each with its path; an id named twice is returned twice. */
export function referencesIn(
  conditions: Conditions,
  field: "segment" | "mailing_list" | "campaign",
): { readonly id: string; readonly path: string }[] {
  const read = field === "campaign" ? readCampaignId : readIdValue;
  return Array.from(eachRule<Condition>(conditions)).flatMap(([path, condition]) => {
    const id = condition.field === field ? read(condition.value) : undefined;
    return id === undefined ? [] : { id, path };
  });
}

interface Known {
  readonly now: Date;
  readonly timeZone: string;
  readonly stored: readonly StoredConditions[];
  /** On its list a later definition of the same name takes precedence. */
  readonly definitions: readonly (FieldDefinition & { readonly mailing_list_id: string | null })[];
  /** Lists of the targets with few members (list-sizes-store.ts). */
  readonly sparseLists: ReadonlySet<string>;
  /** Campaigns that exist. */
  readonly campaigns: ReadonlySet<string>;
}

export function createBinder({ now, timeZone, stored, definitions, sparseLists, campaigns }: Known): Binder {
  const segments = new Map(stored.map((segment) => [segment.id, segment]));
  const bound = new Map<string, Segmentation>();

  const fieldsOf = (mailingListId: string) => {
    const inForce = definitions.filter(
      ({ mailing_list_id }) => mailing_list_id === null || mailing_list_id === mailingListId,
    );
    return new Map(inForce.map((definition) => [definition.field_name, definition]));
  };

  const scopeOf = (mailingListId: string, depth: number): BindingScope => {
    const fields = fieldsOf(mailingListId);
    return {
      now,
      timeZone,
      mailingListId,
      fieldNames: [...fields.keys()],
      customField: (name) => fields.get(name),
      segment: (id) => segmentOf(id, depth + 1),
      hasCampaign: (id) => campaigns.has(id),
    };
  };

  const segmentOf = (id: string, depth: number): Segmentation | undefined => {
    const known = bound.get(id);
    const segment = segments.get(id);
    if (known !== undefined || segment === undefined) return known;
    if (depth > DEEPEST_REFERENCE) {
      throw new ApiError("BAD_REQUEST", `Segments refer to each other more than ${DEEPEST_REFERENCE} deep`);
    }
    const segmentation = bindOn(segment, depth, () => {});
    bound.set(id, segmentation);
    return segmentation;
  };

  const bindOn = (
    { mailing_list_id: mailingListId, conditions }: ListConditions,
    depth: number,
    onFault: OnFault,
  ) => ({
    mailingListId,
    isSparse: sparseLists.has(mailingListId),
    conditions: bind(conditions, scopeOf(mailingListId, depth), onFault),
  });

  return {
    fieldNames: (mailingListId) => [...fieldsOf(mailingListId).keys()],
    bind: (target, onFault = () => {}) => bindOn(target, 0, onFault),
  };
}
