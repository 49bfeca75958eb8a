/**
 * Fails over the database under load, and then checks the result:
 *
 *     npm run failover -- [--rate 200] [--seconds 8] [--seed N]
 *
 * A primary and a standby that confirms every commit (synchronous replication). While a client sends, the primary is
 * killed, frozen, or cut off from the network; some seconds later the standby is promoted, and after that the former primary
 * comes back and takes writes: nothing fences it. The script exits with 1 if
 * - an accepted message did not arrive, or arrived twice without being in flight when its connection ended,
 * - requests still fail five seconds after the promotion,
 * - a process goes back to the former primary, or an invariant of the database is broken.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createDatabase } from "#platform/database/pool.ts";
import { type DatabasePair, startDatabasePair } from "#test/support/database-pair.ts";
import type { DatabaseServer } from "#test/support/database-server.ts";
import { eventually } from "#test/support/eventually.ts";
import { type Host, mayMakeNetworks, Network } from "#test/support/network.ts";
import { platform } from "#test/support/scene.ts";
import {
  apiKey,
  conclude,
  type FaultRun,
  say,
  smallMail,
  startFaultRun,
  waitForEmptyQueue,
} from "./fault-run.ts";
import { brokenInvariants } from "./invariants.ts";
import { findLostOrDuplicated } from "./lost-or-duplicated.ts";
import { readNumbers } from "./options.ts";
import { type RetryingClient, startRetryingClient } from "./retrying-client.ts";

/** What notices the fault and promotes the standby takes some seconds; Patroni's default is up to 30. */
const NOTICED_MS = 3_000;
/** The promise: requests fail for less than this after the promotion. */
const FAILING_MS = 5_000;

const { rate, seconds, seed } = readNumbers({ rate: 200, seconds: 8 });

interface Fault {
  readonly name: string;
  strike(pair: DatabasePair): Promise<void>;
  /** The former primary is back. */
  heal(pair: DatabasePair): Promise<void>;
}

const killed: Fault = {
  name: "killed",
  strike: ({ primary }) => primary.signal("SIGKILL"),
  heal: ({ primary }) => primary.start(),
};
const frozen: Fault = {
  name: "frozen",
  strike: ({ primary }) => primary.signal("SIGSTOP"),
  heal: ({ primary }) => primary.signal("SIGCONT"),
};
const cutOff = (host: Host): Fault => ({
  name: "cut off",
  strike: () => host.cutOff(),
  heal: () => host.reconnect(),
});

interface Outcome {
  readonly row: readonly (string | number)[];
  readonly faults: readonly string[];
}

/** Runs load, fault, promotion and return, and stops the program. */
async function failOver(fault: Fault, pair: DatabasePair, run: FaultRun): Promise<Outcome> {
  const client = startRetryingClient({
    url: () => run.program.url,
    apiKey,
    rate,
    emailFor: smallMail,
  });
  await delay(seconds * 1_000);
  say(`the primary is ${fault.name}, ${client.accepted.size} accepted`);
  await fault.strike(pair);
  const struckAt = performance.now();
  await delay(NOTICED_MS);
  await pair.standby.promote();
  const switchedAt = performance.now();
  say("the standby is promoted");
  await delay(seconds * 1_000);
  await fault.heal(pair);
  await takeWrites(pair.primary);
  say("the former primary is back");
  await delay(seconds * 1_000);
  const strayed = await sessionsWith(pair.primary);
  await client.finish();
  const timeouts = await waitForEmptyQueue(run);
  await run.program.kill("SIGTERM");
  return judge({ fault, pair, run, client, struckAt, switchedAt, found: [...timeouts, ...strayed] });
}

/** It no longer waits for the standby, so that it would confirm what the service wrote to it. */
async function takeWrites(server: DatabaseServer): Promise<void> {
  await eventually("the former primary to answer", () =>
    server
      .ask("alter system set synchronous_standby_names = ''", "select pg_reload_conf()")
      .catch(() => undefined),
  );
}

/** One sentence if the service has sessions there. */
async function sessionsWith(server: DatabaseServer): Promise<string[]> {
  const sessions = await server.ask(
    "select application_name from pg_stat_activity where application_name like 'posthaste%' and application_name <> 'posthaste search'",
  );
  return sessions.length === 0 ? [] : [`${sessions.length} sessions with the former primary`];
}

async function judge({
  fault,
  pair,
  run,
  client,
  struckAt,
  switchedAt,
  found,
}: {
  readonly fault: Fault;
  readonly pair: DatabasePair;
  readonly run: FaultRun;
  readonly client: RetryingClient;
  readonly struckAt: number;
  readonly switchedAt: number;
  readonly found: readonly string[];
}): Promise<Outcome> {
  const database = createDatabase(pair.standby.url, { size: 1, name: "fault check", onError: () => {} });
  const invariants = await brokenInvariants(database);
  await database.close();
  const ids = [...client.accepted.values()];
  const domain = platform.PLATFORM_FROM.split("@")[1];
  const count = await run.mx.count();
  const faulty = findLostOrDuplicated(
    count,
    ids.map((id) => `${id}@${domain}`),
  );
  const failingMs = Math.max(0, Math.round(client.failures.lastAt - switchedAt));
  const copies = [...count.copies.values()];
  return {
    row: [
      fault.name,
      ids.length,
      client.failures.count,
      Math.round(switchedAt - struckAt),
      failingMs,
      ids.length - copies.length,
      copies.filter((received) => received > 1).length,
      [...count.inDoubt.values()].reduce((sum, times) => sum + times, 0),
    ],
    faults: [
      ...found,
      ...faulty,
      ...invariants,
      ...client.contradicted.map((key) => `two ids for the Idempotency-Key ${key}`),
      ...client.refused
        .slice(0, 3)
        .map((answer) => `an answer that a correct client must not get: ${answer}`),
      ...(failingMs > FAILING_MS ? [`requests failed for ${failingMs} ms after the promotion`] : []),
    ].map((sentence) => `${fault.name}: ${sentence}`),
  };
}

const network = (await mayMakeNetworks()) ? await Network.make() : null;
const host = network === null ? null : await network.addHost("primary", 10);
if (host === null) say("no network is cut: that needs root and the command ip (iproute2)");
const outcomes: Outcome[] = [];
let lastRun: FaultRun | undefined;
for (const fault of [killed, frozen, ...(host === null ? [] : [cutOff(host)])]) {
  await using pair = await startDatabasePair(fault.name === "cut off" ? (host ?? undefined) : undefined);
  lastRun = await startFaultRun({ workers: 1, env: { DATABASE_URL: pair.url } });
  outcomes.push(await failOver(fault, pair, lastRun));
}
await network?.[Symbol.asyncDispose]();
const columns = ["fault", "accepted", "failed", "switch ms", "failing ms", "lost", "doubled", "in flight"];
for (const row of [columns, ...outcomes.map(({ row }) => row)])
  say(row.map((cell) => String(cell).padStart(10)).join(" "));
if (lastRun !== undefined)
  await conclude(
    lastRun,
    outcomes.flatMap(({ faults }) => faults),
    seed,
  );
