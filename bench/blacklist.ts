/**
 * Measures blacklist checks: the time of one check with the largest possible catalogue when no zone answers, and a
 * thousand monitors that are due at once, alone and while the same process accepts mail.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { insertMonitor } from "#hygiene/blacklist/monitor-store.ts";
import { runMonitorsNow } from "#hygiene/blacklist/run-monitors.ts";
import { isAsked, readZones } from "#hygiene/blacklist/zones.ts";
import { dnsblName } from "#mail/dns/dnsbl.ts";
import { systemClock } from "#platform/clock.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startProgram } from "#test/support/program.ts";
import { type HttpLoadResult, runHttpLoad } from "./http-load.ts";
import { messageLoad } from "./message-load.ts";
import type { BenchSetup } from "./setup.ts";
import { type Figure, grouped } from "./table.ts";

const ZONES = 200;
const MOST_CHECK_MS = 6_000;
const MONITORS = 1_000;
const MOST_MONITORS_MS = 60_000;
const SENDERS = 16;
const SECONDS = 6;
const WARM_UP_SECONDS = 1;
const LEAST_RATIO = 0.5;
const LOOK_MS = 20;

export async function benchBlacklist(setup: BenchSetup): Promise<Figure[]> {
  return [await silentCheck(setup), ...(await dueMonitors(setup))];
}

async function silentCheck(setup: BenchSetup): Promise<Figure> {
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  await once(silent, "listening");
  const zonesFile = join(setup.folder, "zones.json");
  const zones = Array.from({ length: ZONES }, (_, at) => ({ name: `zone-${at}.test`, types: ["ip4"] }));
  await writeFile(zonesFile, JSON.stringify({ replace: true, zones }));
  const settings = {
    ...setup.environment,
    DNS_SERVERS: `127.0.0.1:${silent.address().port}`,
    BLACKLIST_ZONES_FILE: zonesFile,
  };
  await using service = await startProgram(settings, ["serve", "--roles", "api"]);
  const from = performance.now();
  const body = { target: "8.4.2.1" };
  const answer = await service.call("POST", "/blacklist/check", body, { key: setup.apiKey });
  const ms = performance.now() - from;
  silent.close();
  const { total_checked, listed_count } = answer.body.data;
  if (total_checked !== ZONES || listed_count !== 0) throw new Error(JSON.stringify(answer.body));
  return {
    what: `a check, ${ZONES} zones, all silent`,
    measured: `${grouped(ms)} ms`,
    aim: `≤ ${grouped(MOST_CHECK_MS)} ms`,
    isMet: ms <= MOST_CHECK_MS,
  };
}

async function dueMonitors(setup: BenchSetup): Promise<Figure[]> {
  const zones = readZones(null).filter((zone) => isAsked(zone, "ip4"));
  const testPoints = zones.map(({ name, dns_name }) => [
    dnsblName("127.0.0.2", dns_name ?? name),
    { A: ["127.0.0.2"] },
  ]);
  await using dns = await startFakeDns(Object.fromEntries(testPoints));
  const settings = { ...setup.environment, DNS_SERVERS: dns.address };
  await using service = await startProgram(settings, ["serve", "--roles", "api,jobs"]);
  const accept = () => acceptRate(setup, service.url);

  const before = await accept();
  await insertMonitors(setup);
  const alone = await runAll(setup);
  await makeDue(setup);
  const [beside, meanwhile] = await Promise.all([runAll(setup), accept()]);
  const ratio = meanwhile.rate / before.rate;
  return [
    {
      what: `${grouped(MONITORS)} monitors due at once, ${zones.length} zones each`,
      measured: `${(alone / 1_000).toFixed(1)} s, beside mail ${(beside / 1_000).toFixed(1)} s`,
      aim: `≤ ${MOST_MONITORS_MS / 1_000} s`,
      isMet: Math.max(alone, beside) <= MOST_MONITORS_MS,
    },
    {
      what: `accept meanwhile, 1 KB body, ${SENDERS} connections`,
      measured: describe(meanwhile),
      yardstick: `without monitors ${describe(before)}`,
      ratio,
      aim: `ratio ≥ ${LEAST_RATIO}`,
      isMet: ratio >= LEAST_RATIO,
    },
  ];
}

/** Inserts monitors for addresses of 8.0.0.0/8, all due now. */
async function insertMonitors({ database, workspaceId }: BenchSetup): Promise<void> {
  const now = systemClock.now();
  await database.transaction(async (tx) => {
    for (let at = 0; at < MONITORS; at++) {
      const target = `8.4.${at >> 8}.${at & 255}`;
      const monitor = { target, target_type: "ip", frequency_minutes: 1_440, notify: false } as const;
      await insertMonitor(tx, workspaceId, monitor, now);
    }
    await runMonitorsNow(tx);
  });
}

async function makeDue({ database, workspaceId }: BenchSetup): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.run(sql`
      update blacklist_monitors set next_run_at = ${systemClock.now()}, last_checked_at = null
      where workspace_id = ${workspaceId}`);
    await runMonitorsNow(tx);
  });
}

/** Milliseconds until every monitor has been checked. */
async function runAll({ database, workspaceId }: BenchSetup): Promise<number> {
  const from = performance.now();
  while (
    await database.row(sql`
      select from blacklist_monitors where workspace_id = ${workspaceId} and last_checked_at is null limit 1`)
  )
    await delay(LOOK_MS);
  return performance.now() - from;
}

function acceptRate(setup: BenchSetup, url: string): Promise<HttpLoadResult> {
  return runHttpLoad(
    messageLoad(setup, url, { connections: SENDERS, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS }),
  );
}

function describe({ rate, p99 }: HttpLoadResult): string {
  return `${grouped(rate)}/s, p99 ${p99.toFixed(1)} ms`;
}
