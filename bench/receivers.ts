/** Ten recipient domains whose MX is one counting server on loopback, and settings without delivery limits. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { type CountingMx, startCountingMx } from "#test/support/counting-mx.ts";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import type { ProgramSettings } from "#test/support/program.ts";
import type { BenchSetup } from "./setup.ts";

/** Interval of polls of the receiver or the queue. */
export const LOOK_MS = 100;
const DOMAINS = 10;

export interface Receivers extends AsyncDisposable {
  readonly mx: CountingMx;
  /** A benchmark may add domains. */
  readonly dns: FakeDns;
  readonly environment: ProgramSettings;
}

export function recipientDomain(at: number): string {
  return `receiver-${at % DOMAINS}.test`;
}

export async function startReceivers(setup: BenchSetup): Promise<Receivers> {
  const zone = Array.from({ length: DOMAINS }, (_, at) => [
    [recipientDomain(at), { MX: [[10, `mx.${recipientDomain(at)}`] as [number, string]] }],
    [`mx.${recipientDomain(at)}`, { A: ["127.0.0.1"] }],
  ]);
  const dns = await startFakeDns(Object.fromEntries(zone.flat()));
  const mx = await startCountingMx();
  const lanesFile = join(setup.folder, "lanes.json");
  const unlimited = {
    connections_per_minute: null,
    messages_per_connection: null,
    messages_per_second: null,
  };
  await writeFile(lanesFile, JSON.stringify({ lanes: [{ name: "default", ...unlimited }] }));
  return {
    mx,
    dns,
    environment: {
      ...setup.environment,
      MAIL_MODE: "direct",
      DNS_SERVERS: dns.address,
      SMTP_PORT: String(mx.port),
      ALLOW_PRIVATE_MX: "true",
      LANES_FILE: lanesFile,
    },
    async [Symbol.asyncDispose]() {
      await mx.stop();
      await dns[Symbol.asyncDispose]();
    },
  };
}

/** Waits until at least `least` messages have arrived; returns the number. */
export async function hasReceived(mx: CountingMx, least: number): Promise<number> {
  for (;;) {
    const received = await mx.received();
    if (received >= least) return received;
    await delay(LOOK_MS);
  }
}

export async function isQueueUsed(db: Database): Promise<boolean> {
  return (await db.row(sql`select from delivery_queue limit 1`)) !== undefined;
}
