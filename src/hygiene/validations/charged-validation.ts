import { addressOf, findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { readSyntax } from "#mail/address-syntax.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { overloaded } from "#platform/errors.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { takeAll } from "#workspace/billing/meter.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { AddressChecker } from "./address-checker.ts";
import { type Findings, malformed } from "./findings.ts";
import { RISK, type Score } from "./score.ts";
import { countAnswers, insertValidations, removeUnanswered, updateScore } from "./store.ts";
import { shownText, type Validation, validationOf } from "./validation.ts";

export interface ValidateDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly checker: AddressChecker;
}

/**
 * Validates one address while its caller waits; a text that is not an address has a result, too.
 * @throws ApiError PLAN_LIMIT_REACHED, INSUFFICIENT_BALANCE or RATE_LIMIT_EXCEEDED when nothing covers it
 */
export type Validate = (workspaceId: WorkspaceId, asked: ValidateRequest) => Promise<Validation>;

export interface ValidateRequest {
  readonly email: string;
  /** The source address of the probe; null leaves it to the operating system. */
  readonly source: string | null;
}

/** For DNS look-ups and the probe together. */
const DEADLINE_MS = 15_000;
/** How long a result is cached for calls of the same workspace. */
const RECENT_MS = 600_000;
const MOST_RECENT = 10_000;

/**
 * A validation is charged, and its row is written with the status `unknown`, before the address is checked: so of many
 * calls at a limit exactly the covered ones pass, and the row is correct if this process dies. On an error of ours the row
 * is removed and the charge refunded.
 */
export function createValidate({ db, clock, plans, checker }: ValidateDeps): Validate {
  const recent = new ExpiringMap<Findings>(MOST_RECENT, () => clock.monotonicMs());

  /** Charges `cost` and writes the row. @returns the row's id */
  const record = async (
    tx: Queryable,
    workspaceId: WorkspaceId,
    email: string,
    verdict: Score,
    cost: 0 | 1,
  ) => {
    const now = clock.now();
    if (cost > 0) await takeAll(tx, plans, workspaceId, "validation", cost, now);
    const { status, risk_score } = verdict;
    const id = newId();
    await insertValidations(tx, workspaceId, [{ id, email, status, risk_score, cost, created_at: now }]);
    return id;
  };

  /** Charges and records a result that is known at once. */
  const recordKnown = async (workspaceId: WorkspaceId, answer: Validation, cost: 0 | 1) => {
    await db.transaction(async (tx) => {
      await record(tx, workspaceId, answer.email, answer, cost);
      await countAnswers(tx, workspaceId, [answer.status], clock.now());
    });
    return answer;
  };

  return async (workspaceId, { email: given, source }) => {
    const email = shownText(given.trim());
    const syntax = readSyntax(given);
    if (!syntax.ok) {
      const unknown = { isComplainer: false, isCached: false };
      return recordKnown(workspaceId, validationOf(email, malformed(clock.now()), unknown), 0);
    }
    const { local, domain } = syntax;
    const address = addressOf({ localpart: local, domain });
    const answerOf = async (findings: Findings, isCached: boolean) => {
      const [found] = await findSuppressions(db, [{ workspaceId, address, domain }]);
      return validationOf(email, findings, { isComplainer: found?.reason === "complaint", isCached });
    };
    // The local part as given: a server may distinguish Ada from ada.
    const key = `${workspaceId} ${source} ${local}@${domain}`;
    const known = recent.get(key);
    if (known !== undefined) return recordKnown(workspaceId, await answerOf(known, true), 1);

    const pending = { status: "unknown", risk_score: RISK.unknown } as const;
    const id = await db.transaction((tx) => record(tx, workspaceId, email, pending, 1));
    try {
      const [findings] = await checker.check(domain, [local], {
        deadlineMs: DEADLINE_MS,
        localAddress: source,
      });
      if (findings === undefined) throw new Error("the checker returned no findings");
      if (findings.probe?.result === "stopped") throw overloaded("The service is stopping: try again");
      const answer = await answerOf(findings, false);
      await db.transaction(async (tx) => {
        await updateScore(tx, workspaceId, id, answer);
        await countAnswers(tx, workspaceId, [answer.status], clock.now());
      });
      // Not cached after a DNS failure or at the rate limit: the next call may get an answer.
      const isFound = findings.domain?.outcome !== "unknown" && findings.probe?.result !== "rate_limited";
      if (isFound) recent.set(key, findings, RECENT_MS);
      return answer;
    } catch (fault) {
      await db.transaction((tx) => removeUnanswered(tx, workspaceId, id, clock.now()));
      throw fault;
    }
  };
}
