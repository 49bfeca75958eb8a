/**
 * Measures a long queue: the lease of a batch with 10,000 and with 1,000,000 queued messages, also while the first half
 * is for a provider whose lane is full, and the time from the program's start to the first delivery.
 */
import { performance } from "node:perf_hooks";
import sql from "sql-template-tag";
import { QueueCursor } from "#delivery/queue/queue-cursor.ts";
import { PLANNER_SETTINGS } from "#delivery/queue/queue-store.ts";
import { releaseLeasesOf } from "#delivery/queue/settle-leases-store.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { startProgram } from "#test/support/program.ts";
import { hasReceived, recipientDomain, startReceivers } from "./receivers.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";

const SHORT = 10_000;
const LONG = 1_000_000;
const INSERTED_AT_ONCE = 100_000;
/** Number of messages with the same due time, as a step of a campaign writes them. */
const DUE_AT_ONCE = 5_000;
/** The batch size of the delivery worker. */
const BATCH = 250;
const LEASES = 21;
const MOST_RESTART_MS = 10_000;
/** The aim: a lease in the long queue takes at most this many times longer. */
const MOST_RATIO = 2;
const FULL_DOMAIN = recipientDomain(0);

export async function benchQueue(setup: BenchSetup): Promise<Figure[]> {
  await using receivers = await startReceivers(setup);
  const { database } = setup;
  const delivery = createDatabase(setup.databaseUrl, {
    size: 1,
    name: "benchmark",
    onError: () => {},
    settings: PLANNER_SETTINGS,
  });
  await fill(setup, 0, SHORT);
  await leaseCost(delivery, BATCH, []);
  const short = await leaseCost(delivery, BATCH, []);
  await fill(setup, SHORT, LONG);
  const long = await leaseCost(delivery, BATCH, []);
  const full = await leaseCost(delivery, BATCH, [FULL_DOMAIN]);
  await delivery.close();
  const from = performance.now();
  let restart: number;
  {
    await using _ = await startProgram(receivers.environment, ["serve", "--roles", "api,delivery"]);
    await hasReceived(receivers.mx, 1);
    restart = performance.now() - from;
  }
  await database.run(sql`truncate delivery_queue, messages, message_contents, message_events`);
  return [
    costFigure(`leases of ${BATCH}, ${grouped(LONG)} waiting`, long, short),
    costFigure(`leases of ${BATCH}, the first half for a full lane`, full, short),
    {
      what: `start to first delivery, ${grouped(LONG)} waiting`,
      measured: `${grouped(restart)} ms`,
      aim: `≤ ${grouped(MOST_RESTART_MS)} ms`,
      isMet: restart <= MOST_RESTART_MS,
    },
  ];
}

/** Inserts messages as acceptance does; the first half is for the domain whose lane is full. */
async function fill({ database, workspaceId }: BenchSetup, first: number, end: number): Promise<void> {
  for (let from = first; from < end; from += INSERTED_AT_ONCE) {
    await database.run(sql`
      with mail as materialized (
        select n, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint + n / 1000), 12, '0') || '7' || substr(md5(n::text), 1, 3)
            || '8' || substr(md5(n::text), 4, 15))::uuid as id,
          'user' || n as localpart, case when n < ${LONG / 2} then ${FULL_DOMAIN} else 'receiver-' || n % 9 + 1 || '.test' end as domain
        from generate_series(${from}::integer, ${Math.min(end, from + INSERTED_AT_ONCE) - 1}::integer) n
      ), log as (
        insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
        select ${workspaceId}, id, 'api', 'Benchmark', ${`shop@${senderDomain}`}, localpart, domain, 'Hello', now(), now()
        from mail
      ), contents as (
        insert into message_contents (workspace_id, message_id, text) select ${workspaceId}, id, 'Hello' from mail
      )
      insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
      select ${workspaceId}, id, 1, domain, 5, now() + interval '3 days',
        now() + make_interval(secs => n / ${DUE_AT_ONCE} / 1000.0) from mail`);
  }
  await database.run(sql`analyze delivery_queue, messages, message_contents`);
}

const cursor = new QueueCursor();

/** Time per message of a lease, in milliseconds. */
async function leaseCost(database: Database, limit: number, saturated: readonly string[]): Promise<number> {
  const costs: number[] = [];
  for (let lease = 0; lease < LEASES; lease++) {
    const workerId = newId();
    const from = performance.now();
    const order = { workerId, priority: 1, limit, bytes: 1e8, seconds: 60, saturated } as const;
    const leased = await cursor.lease(database, order);
    costs.push((performance.now() - from) / limit);
    if (leased.length !== limit) throw new Error(`${leased.length} messages were leased, not ${limit}`);
    await releaseLeasesOf(database, workerId);
  }
  return median(costs);
}

function costFigure(what: string, cost: number, short: number): Figure {
  return {
    what,
    measured: `${(cost * 1_000).toFixed(0)} µs a message`,
    yardstick: `${(short * 1_000).toFixed(0)} µs with ${grouped(SHORT)} waiting`,
    ratio: cost / short,
    aim: `≤ ${MOST_RATIO} times`,
    isMet: cost <= short * MOST_RATIO,
  };
}
