/** Background jobs in end-to-end tests: waits for their end, and makes the jobs of killed runners due at once. */
import sql from "sql-template-tag";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Database } from "#platform/database/pool.ts";
import { countsOfType, resultOfType } from "#platform/jobs/job-shape.ts";
import { jobOutcomes } from "#processes/endpoints.ts";
import type { ApiAnswer } from "./api-caller.ts";
import { eventually } from "./eventually.ts";
import { withoutOtherFields } from "./exact-shape.ts";
import type { Program } from "./program.ts";

/** Waits until the job named in an answer has ended, and returns it. It has what the reference says of its type. */
export async function endedJob(
  program: Pick<Program, "call">,
  { status, body: started }: Pick<ApiAnswer, "status" | "body">,
  mostMs = 60_000,
): Promise<ApiAnswer["body"]> {
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(started)}`);
  const job = await eventually(
    "the job to end",
    async () => {
      const { body } = await program.call("GET", `/jobs/${started.data.job_id}`);
      return !["pending", "processing"].includes(body.data.status) && body.data;
    },
    mostMs,
  );
  requireOutcome(job);
  return job;
}

/** @throws Error for a job whose counts or result are not those that openapi.json declares for its type */
export function requireOutcome(job: ApiAnswer["body"]): void {
  const outcome = jobOutcomes[job.type as keyof typeof jobOutcomes];
  const shape = Type.Object({ counts: countsOfType(outcome.counts), result: resultOfType(outcome.results) });
  const { counts, result } = job;
  const faults = Compile(withoutOtherFields(shape) as typeof shape).Errors({ counts, result });
  if (faults.length > 0) throw new Error(`${job.type}: ${JSON.stringify(faults)} in ${JSON.stringify(job)}`);
}

/** Ages the heartbeats of all runners, so that the next runner takes over their jobs now and not after 30 s. */
export async function expireDeadRunners(database: Database): Promise<void> {
  await database.run(sql`update job_runners set seen_at = now() - interval '1 hour'`);
  await database.run(sql`
    update graphile_worker._private_jobs set locked_at = now() - interval '1 hour' where locked_at is not null`);
  await database.run(sql`
    update job_turns set leased_at = now() - interval '1 hour' where lease_id is not null`);
}
