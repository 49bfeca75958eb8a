/** Background jobs in end-to-end tests: waits for their end, and makes the jobs of killed runners due at once. */
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import type { ApiAnswer } from "./api-caller.ts";
import { eventually } from "./eventually.ts";
import type { Program } from "./program.ts";

/** Waits until the job named in an answer has ended, and returns it. */
export async function endedJob(
  program: Pick<Program, "call">,
  { status, body: started }: Pick<ApiAnswer, "status" | "body">,
  mostMs = 60_000,
): Promise<ApiAnswer["body"]> {
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(started)}`);
  return eventually(
    "the job to end",
    async () => {
      const { body } = await program.call("GET", `/jobs/${started.data.job_id}`);
      return !["pending", "processing"].includes(body.data.status) && body.data;
    },
    mostMs,
  );
}

/** Ages the heartbeats of all runners, so that the next runner takes over their jobs now and not after 30 s. */
export async function expireDeadRunners(database: Database): Promise<void> {
  await database.run(sql`update job_runners set seen_at = now() - interval '1 hour'`);
  await database.run(sql`
    update graphile_worker._private_jobs set locked_at = now() - interval '1 hour' where locked_at is not null`);
  await database.run(sql`
    update job_turns set leased_at = now() - interval '1 hour' where lease_id is not null`);
}
