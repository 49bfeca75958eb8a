/**
 * Measures webhooks: deliveries per second to a receiver on loopback with one and with two processes, and the lease of a
 * batch with 200,000 deliveries of 10,000 workspaces waiting, also after many leases without a vacuum.
 */
import { mkdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import sql, { raw } from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { webhookLimits } from "#test/support/webhook-limits.ts";
import { leaseDeliveries } from "#webhooks/deliveries/lease-store.ts";
import { settleDeliveries } from "#webhooks/deliveries/settle-store.ts";
import { queueRequestedTurns } from "#webhooks/deliveries/turns-store.ts";
import { newSigningSecret, secretContext } from "#webhooks/signature.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";
import { startFastReceiver } from "./webhook-receiver.ts";

const LEAST_RATE = 2_000;
const SENT = { workspaces: 1_000, deliveries: 80_000 };
/** Deliveries before the measurement begins, because code is slow when it runs for the first time. */
const WARM_UP = 10_000;
/** Requests of the yardstick. */
const BARE = 20_000;
const BARE_AT_A_TIME = 100;
const FEW = { workspaces: 100, deliveries: 2_000 };
const MANY = { workspaces: 10_000, deliveries: 200_000 };
/** The batch size of the sender. */
const BATCH = 200;
const LEASES = 9;
/** Leases, with their results, that leave dead rows behind. */
const LEASES_BEFORE = 250;
/** The aim: a lease takes at most this many times longer when a hundred times as many deliveries wait. */
const MOST_RATIO = 1.5;
const LOOK_MS = 50;

interface Load {
  readonly workspaces: number;
  readonly deliveries: number;
}

export async function benchWebhooks(setup: BenchSetup): Promise<Figure[]> {
  await using receiver = await startFastReceiver();
  const bare = await bareRate(receiver.url);
  const one = await rateOf(setup, receiver.url, 1);
  const two = await rateOf(setup, receiver.url, 2);
  const short = await leaseCost(setup, FEW);
  const long = await leaseCost(setup, MANY);
  await lease(setup.database, LEASES_BEFORE);
  const worn = await medianLease(setup.database);
  await empty(setup.database);
  return [
    {
      what: "webhook deliveries, one process",
      measured: `${grouped(one)}/s`,
      yardstick: `${grouped(bare)}/s of a bare client`,
      ratio: one / bare,
      aim: `≥ ${grouped(LEAST_RATE)}/s`,
      isMet: one >= LEAST_RATE,
    },
    {
      what: "webhook deliveries, two processes",
      measured: `${grouped(two)}/s`,
      yardstick: `${grouped(one)}/s with one`,
      ratio: two / one,
      aim: "> 1",
      isMet: two > one,
    },
    costFigure(`lease of ${BATCH}, ${grouped(MANY.deliveries)} deliveries waiting`, long, short),
    costFigure(`the same after ${grouped(LEASES_BEFORE * BATCH)} deliveries without a vacuum`, worn, short),
  ];
}

/** Requests per second of one process that posts the same body over kept connections, and does nothing else. */
async function bareRate(url: string): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const post = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const headers = { "content-length": Buffer.byteLength(body) };
    const outgoing = request(url, { method: "POST", agent, headers }, (response) =>
      response.resume().on("end", resolve),
    );
    outgoing.on("error", reject).end(body);
    return promise;
  };
  let left = BARE;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: BARE_AT_A_TIME }, async () => {
      while (left-- > 0) await post();
    }),
  );
  agent.destroy();
  return BARE / ((performance.now() - from) / 1_000);
}

/** Deliveries per second when all of them wait at the start. */
async function rateOf(setup: BenchSetup, url: string, processes: number): Promise<number> {
  const { database } = setup;
  await fill(setup, SENT, url);
  const programs: Program[] = [];
  try {
    for (let number = 1; number <= processes; number++) {
      const dataDir = join(setup.folder, `sender-${number}`);
      await mkdir(dataDir, { recursive: true });
      const environment = { ...setup.environment, DATA_DIR: dataDir, ALLOW_PRIVATE_WEBHOOKS: "true" };
      programs.push(await startProgram(environment, ["serve", "--roles", "api,jobs"]));
    }
    const before = await hasDelivered(database, WARM_UP);
    const from = performance.now();
    const after = await hasDelivered(database, SENT.deliveries - WARM_UP);
    return (after - before) / ((performance.now() - from) / 1_000);
  } finally {
    for (const program of programs) await program.kill("SIGKILL");
    await empty(database);
  }
}

/** Waits until at least `least` of the deliveries were successful. @returns the number */
async function hasDelivered(database: Database, least: number): Promise<number> {
  for (;;) {
    const waiting = await database.row<{ count: number }>(sql`
      select count(*) from webhook_deliveries where status = 'pending'`);
    const delivered = SENT.deliveries - (waiting?.count ?? 0);
    if (delivered >= least) return delivered;
    await delay(LOOK_MS);
  }
}

/** Inserts workspaces with one webhook each, and due deliveries that are divided among them. */
async function fill(
  { database, environment }: BenchSetup,
  { workspaces, deliveries }: Load,
  url: string,
): Promise<void> {
  await empty(database);
  const secrets = createSecrets(environment["SECRET_KEY"] ?? "");
  const ids = Array.from({ length: workspaces }, () => newId());
  const sealed = ids.map((id) => secrets.seal(newSigningSecret(), secretContext(id)));
  await database.run(sql`
    insert into workspaces (id, name) select id, 'webhooks' from unnest(${ids}::uuid[]) as w (id)`);
  await database.run(sql`
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select id, id, ${url}, '{*}', true, secret, now(), now()
    from unnest(${ids}::uuid[], ${sealed}::bytea[]) as w (id, secret)`);
  await database.run(sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select id, id, gen_random_uuid(), 'message.delivered', ${body}::json, now() + make_interval(secs => n / 1e6), now()
    from unnest(${ids}::uuid[]) as w (id), generate_series(1, ${deliveries / workspaces}::integer) n`);
  await database.run(sql`
    insert into webhook_turn_requests (workspace_id, due_at) select id, now() from unnest(${ids}::uuid[]) as w (id)`);
  for (const table of TABLES) await database.run(sql`vacuum analyze ${raw(table)}`);
}

const TABLES = [
  "webhooks",
  "webhook_deliveries",
  "webhook_leases",
  "webhook_turns",
  "webhook_turn_requests",
  "workspaces",
];

async function empty(database: Database): Promise<void> {
  // The workspaces stay: nearly all tables refer to them, so that their removal takes minutes.
  await database.run(sql`
    truncate webhooks, webhook_deliveries, webhook_leases, webhook_turns, webhook_turn_requests`);
}

const body = JSON.stringify({
  type: "message.delivered",
  timestamp: "2026-11-01T09:00:00.000Z",
  data: {
    message_id: newId(),
    to: "ada@example.net",
    from_email: "shop@sender.test",
    source: "campaign",
    origin_id: newId(),
    origin_name: "Spring sale",
    email_id: null,
    tags: ["spring"],
    metadata: {},
    attempts: 1,
    detail: "250 2.0.0 Ok: queued as 4XyZ",
    smtp_code: 250,
    enhanced_code: "2.0.0",
  },
});

/** The time of a lease with this load, in milliseconds. */
async function leaseCost(setup: BenchSetup, load: Load): Promise<number> {
  const { database } = setup;
  await fill(setup, load, "https://hooks.example.com/");
  for (const table of TABLES) {
    await database.run(sql`alter table ${raw(table)} set (autovacuum_enabled = ${raw("false")})`);
  }
  while (await isRequested(database)) await queueRequestedTurns(database, new Date(), 5_000);
  return medianLease(database);
}

async function isRequested(database: Database): Promise<boolean> {
  return (await database.row(sql`select from webhook_turn_requests limit 1`)) !== undefined;
}

async function medianLease(database: Database): Promise<number> {
  return median(await lease(database, LEASES));
}

/** Leases batches, and writes that they were delivered. @returns the time of each lease, in milliseconds */
async function lease(database: Database, batches: number): Promise<number[]> {
  const times: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const now = new Date();
    const until = new Date(now.getTime() + 60_000);
    const limits = {
      now,
      until,
      most: BATCH,
      ...webhookLimits,
    };
    const from = performance.now();
    const leased = await database.transaction((tx) => leaseDeliveries(tx, limits));
    times.push(performance.now() - from);
    if (leased.length !== BATCH) throw new Error(`${leased.length} deliveries were leased, not ${BATCH}`);
    const end = {
      status: "delivered",
      nextAttemptAt: null,
      statusCode: 204,
      error: null,
      answer: null,
    } as const;
    await settleDeliveries(
      database,
      leased.map((one) => ({ lease: one, ...end, durationMs: 1, time: now })),
    );
  }
  return times;
}

function costFigure(what: string, cost: number, short: number): Figure {
  return {
    what,
    measured: `${cost.toFixed(1)} ms`,
    yardstick: `${short.toFixed(1)} ms with ${grouped(FEW.deliveries)} of ${FEW.workspaces} workspaces`,
    ratio: cost / short,
    aim: `≤ ${MOST_RATIO} times`,
    isMet: cost <= short * MOST_RATIO,
  };
}
