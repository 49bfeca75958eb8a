import { addressOf, findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { countAnswers, insertValidations } from "#hygiene/validations/store.ts";
import { validationOf } from "#hygiene/validations/validation.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { takeUpTo } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { CheckedAddress } from "./check-batch.ts";
import { resultRow } from "./result-file.ts";
import { type BatchKey, claimValidationBatch, type DoneBatch, updateValidationBatch } from "./store.ts";

export interface WriteDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
}

export interface BatchOutcome {
  readonly done: DoneBatch;
  /** Validations that were charged. */
  readonly taken: number;
  /** The hourly cap was reached. */
  readonly isCapped: boolean;
}

/**
 * Charges a batch and writes its history and its rows of the result, in one transaction. Writes as many results as
 * allowance and balance cover; when the hourly cap is reached, the other addresses are put back.
 * @param later places without a result for now, which are not charged
 * @returns undefined when another run of the job has written the batch
 */
export async function writeBatch(
  { db, clock, plans }: WriteDeps,
  workspaceId: WorkspaceId,
  key: BatchKey,
  checked: readonly CheckedAddress[],
  later: Pick<DoneBatch, "greylisted" | "put_back">,
): Promise<BatchOutcome | undefined> {
  const now = clock.now();
  const complainers = await listComplainers(db, workspaceId, checked);
  const answers = checked.map((one) => {
    const isComplainer = complainers.has(one);
    const answer = validationOf(one.address.text, one.findings, { isComplainer, isCached: false });
    return { place: one.place, answer, cost: answer.format_valid ? 1 : 0 };
  });
  const wanted = answers.filter(({ cost }) => cost > 0).length;

  const write = async (tx: Queryable) => {
    if (!(await claimValidationBatch(tx, workspaceId, key, now))) return undefined;
    const { taken, refusal } =
      wanted === 0
        ? { taken: 0, refusal: null }
        : await takeUpTo(tx, plans, workspaceId, "validation", wanted, now);
    let left = taken;
    const isCovered = answers.map(({ cost }) => cost === 0 || left-- > 0);
    const covered = answers.filter((_, at) => isCovered[at]);
    const uncovered = answers.filter((_, at) => !isCovered[at]);
    const statuses = covered.map(({ answer }) => answer.status);
    const rows = covered.map(({ answer: { email, status, risk_score }, cost }) => {
      return { id: newId(), email, status, risk_score, cost, created_at: now };
    });
    await insertValidations(tx, workspaceId, rows);
    if (statuses.length > 0) await countAnswers(tx, workspaceId, statuses, now);
    const lack = taken < wanted ? refusal : null;
    const isCapped = lack === "hourly_cap";
    const done = {
      ...later,
      counts: Object.fromEntries(
        [...Map.groupBy(statuses, (status) => status)].map(([s, all]) => [s, all.length]),
      ),
      ...(isCapped && { put_back: [...later.put_back, ...uncovered.map(({ place }) => place)] }),
      stopped_by: isCapped ? null : lack,
    };
    await updateValidationBatch(tx, workspaceId, key, {
      ...done,
      places: covered.map(({ place }) => place),
      rows: covered.map(({ answer }) => resultRow(answer)),
    });
    return { done: { ...done, batch: key.batch, answered: covered.length, done_at: now }, taken, isCapped };
  };
  return db.transaction(write, { mayRepeat: true });
}

async function listComplainers(
  db: Database,
  workspaceId: WorkspaceId,
  checked: readonly CheckedAddress[],
): Promise<Set<CheckedAddress>> {
  const asked = checked.flatMap((one) => {
    const { syntax } = one.address;
    if (!syntax.ok) return [];
    const { local: localpart, domain } = syntax;
    return [{ one, recipient: { workspaceId, domain, address: addressOf({ localpart, domain }) } }];
  });
  const verdicts = await findSuppressions(
    db,
    asked.map(({ recipient }) => recipient),
  );
  return new Set(asked.flatMap(({ one }, at) => (verdicts[at]?.reason === "complaint" ? [one] : [])));
}
