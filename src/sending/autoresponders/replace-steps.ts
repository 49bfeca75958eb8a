/**
 * Replaces the steps of an autoresponder while runs are in progress. A step with an id keeps its identity; if no step has an
 * id, steps keep it by position. A run that waits for a step gets its new content. A run that waits for a removed step
 * continues with the step that now follows the one before it.
 */
import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { fieldError } from "#sending/mail-fields.ts";
import type { ReadStep } from "./read-autoresponder-body.ts";
import { insertContent, listSteps, type PlacedStep, type StepRow, upsertSteps } from "./steps-store.ts";

interface KeptStep extends Omit<ReadStep, "id"> {
  readonly id: string;
}

/** Runs in the transaction that has locked the autoresponder. @throws ApiError VALIDATION_ERROR for an unknown step id */
export async function replaceSteps(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    id: autoresponderId,
    mailing_list_id: mailingListId,
  }: { readonly id: string; readonly mailing_list_id: string },
  given: readonly ReadStep[],
): Promise<void> {
  const old = await listSteps(tx, workspaceId, autoresponderId);
  const steps = identified(given, old);
  const placed: PlacedStep[] = [];
  for (const [at, { id, delayMinutes, content }] of steps.entries()) {
    const before = old.find((step) => step.id === id);
    const isSame = before !== undefined && before.mailing_list_id === mailingListId && says(before, content);
    const contentId = isSame ? before.content_id : newId();
    if (!isSame) {
      await insertContent(tx, workspaceId, { id: contentId, autoresponderId, mailingListId }, content);
    }
    placed.push({ id, position: at + 1, successorId: null, delayMinutes, contentId });
  }
  await upsertSteps(tx, workspaceId, autoresponderId, [...placed, ...removed(old, steps)]);
}

function identified(given: readonly ReadStep[], old: readonly StepRow[]): KeptStep[] {
  const byPosition = given.every(({ id }) => id === null);
  return given.map((step, at) => {
    const id = byPosition ? (old[at]?.id ?? null) : step.id;
    if (id !== null && !old.some((one) => one.id === id)) {
      throw fieldError(`steps[${at}].id`, "is no step of this autoresponder");
    }
    return { ...step, id: id ?? newId() };
  });
}

const saidFields = [
  "subject",
  "html_content",
  "text_content",
  "mjml",
  "design",
  "template_id",
  "template_version",
  "tracks_opens",
  "tracks_clicks",
] as const;

function says(before: StepRow, content: ReadStep["content"]): boolean {
  return saidFields.every((name) => isDeepStrictEqual(before[name], content[name]));
}

function removed(old: readonly StepRow[], steps: readonly KeptStep[]): PlacedStep[] {
  const places = new Map(steps.map(({ id }, at) => [id, at]));
  let previous = -1;
  return old.flatMap(({ id, delay_minutes: delayMinutes, content_id: contentId }) => {
    const place = places.get(id);
    if (place !== undefined) {
      previous = place;
      return [];
    }
    return { id, position: null, successorId: steps[previous + 1]?.id ?? null, delayMinutes, contentId };
  });
}
