/** Limits of references among segments: no circles, a maximum depth, and a maximum number of conditions in total. */

import { DEEPEST_REFERENCE } from "./load-and-bind.ts";
import type { Reference } from "./load-references-store.ts";

/** Limit of conditions of a segment. The conditions of a segment that it refers to count once for each reference. */
export const MOST_RULES_IN_ALL = 1_000;

/**
 * The fault in the references of a workspace, as the end of a sentence about the conditions; undefined if there is
 * none.
 */
export function referenceFault(references: readonly Reference[]): string | undefined {
  const byId = new Map(references.map((reference) => [reference.id, reference]));
  const known = new Map<string, { readonly rules: number; readonly depth: number }>();

  /** Counts conditions and depth; infinite in a circle. */
  const measure = (
    id: string,
    above: readonly string[],
  ): { readonly rules: number; readonly depth: number } => {
    if (above.includes(id)) return { rules: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };
    const segment = byId.get(id);
    if (segment === undefined) return { rules: 0, depth: 0 };
    const measured = known.get(id);
    if (measured !== undefined) return measured;
    const parts = segment.referenced_segments.map((referenced) => measure(referenced, [...above, id]));
    const size = {
      rules: parts.reduce((sum, { rules }) => sum + rules, segment.rule_count),
      depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    };
    known.set(id, size);
    return size;
  };

  const sizes = references.map(({ id }) => measure(id, []));
  if (sizes.some(({ depth }) => depth === Number.POSITIVE_INFINITY)) {
    return "refer to each other in a circle";
  }
  if (sizes.some(({ depth }) => depth > DEEPEST_REFERENCE)) {
    return `refer to each other more than ${DEEPEST_REFERENCE} deep`;
  }
  if (sizes.some(({ rules }) => rules > MOST_RULES_IN_ALL)) {
    return `come to more than ${MOST_RULES_IN_ALL} conditions with those of the segments they refer to`;
  }
  return undefined;
}
