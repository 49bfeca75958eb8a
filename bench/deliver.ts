/**
 * How fast accepted messages are delivered: all of them wait in the queue when the delivery process starts, go to ten
 * recipient domains on loopback, each signed with RSA-2048, and count when the receiver and the database have them. In
 * front of each run OpenSSL says how many such signatures this machine makes at that moment.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database } from "../src/platform/database/pool.ts";
import { insertDrafts } from "../src/sending/accept.ts";
import { type CountingMx, startCountingMx } from "../test/support/counting-mx.ts";
import { draft } from "../test/support/drafts.ts";
import { startFakeDns } from "../test/support/fake-dns.ts";
import { startProgram } from "../test/support/program.ts";
import { type Lab, senderDomain } from "./lab.ts";
import { cores, memoryOf, signaturesPerSecond } from "./machine.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const RUNS = 3;
const MESSAGES = 25_000;
/** The clock starts behind these: code that runs for the first time is slow. */
const WARM_UP = 5_000;
const HTML_LENGTH = 10_000;
const DOMAINS = 10;
const INSERTED_AT_ONCE = 500;
const SIGNING_SECONDS = 3;
const LOOK_MS = 20;
/** What two cores should do; a machine with more or fewer is judged by its cores. */
const LEAST_PER_CORE = 1_250;

interface Run {
  readonly rate: number;
  readonly signatures: number | null;
  readonly memory: readonly number[];
}

export async function benchDeliver(lab: Lab): Promise<Figure[]> {
  await using dns = await startFakeDns(
    Object.fromEntries(
      Array.from({ length: DOMAINS }, (_, at) => [
        [recipientDomain(at), { MX: [[10, `mx.${recipientDomain(at)}`] as [number, string]] }],
        [`mx.${recipientDomain(at)}`, { A: ["127.0.0.1"] }],
      ]).flat(),
    ),
  );
  const mx = await startCountingMx();
  const lanesFile = join(lab.folder, "lanes.json");
  const unlimited = {
    connections_per_minute: null,
    messages_per_connection: null,
    messages_per_second: null,
  };
  await writeFile(lanesFile, JSON.stringify({ lanes: [{ name: "default", ...unlimited }] }));
  const environment = {
    ...lab.environment,
    MAIL_MODE: "direct",
    DNS_SERVERS: dns.address,
    SMTP_PORT: String(mx.port),
    ALLOW_PRIVATE_MX: "true",
    LANES_FILE: lanesFile,
  };
  const runs: Run[] = [];
  for (let run = 0; run < RUNS; run++) {
    await seed(lab);
    const signatures = await signaturesPerSecond(SIGNING_SECONDS);
    await using service = await startProgram(environment, ["serve", "--roles", "api,delivery"]);
    const before = await hasReceived(mx, WARM_UP);
    const from = performance.now();
    await hasReceived(mx, MESSAGES);
    while (await isQueueUsed(lab.database)) await delay(LOOK_MS);
    const seconds = (performance.now() - from) / 1000;
    const { received, copies } = await mx.count({ reset: true });
    if (received !== MESSAGES || copies.size !== MESSAGES)
      throw new Error(`${received} messages with ${copies.size} ids came of ${MESSAGES}`);
    const { node } = await memoryOf(service.pid);
    runs.push({ rate: (MESSAGES - before) / seconds, signatures, memory: node });
  }
  await mx.stop();
  return figuresOf(medianBy(runs, ({ rate, signatures }) => rate / (signatures ?? 1)));
}

function recipientDomain(at: number): string {
  return `receiver-${at % DOMAINS}.test`;
}

/** Accepted as POST /emails/send accepts, without HTTP. */
async function seed({ database, workspaceId }: Lab): Promise<void> {
  const html = htmlOfLength(HTML_LENGTH);
  for (let from = 0; from < MESSAGES; from += INSERTED_AT_ONCE) {
    const drafts = Array.from({ length: INSERTED_AT_ONCE }, (_, index) =>
      draft(workspaceId, `user${from + index}@${recipientDomain(index)}`, {
        fromEmail: `shop@${senderDomain}`,
        subject: `Your order ${from + index}`,
        html,
      }),
    );
    await insertDrafts(database, drafts);
  }
}

/** Waits until at least so many have come; gives how many it is then. */
async function hasReceived(mx: CountingMx, least: number): Promise<number> {
  for (;;) {
    const received = await mx.received();
    if (received >= least) return received;
    await delay(LOOK_MS);
  }
}

async function isQueueUsed(db: Database): Promise<boolean> {
  return (await db.row(sql`select from delivery_queue limit 1`)) !== undefined;
}

function figuresOf({ rate, signatures, memory }: Run): Figure[] {
  const least = LEAST_PER_CORE * cores;
  return [
    {
      what: `deliver, ${HTML_LENGTH / 1000} KB, RSA-2048`,
      measured: `${grouped(rate)} messages/s`,
      yardstick: signatures === null ? "openssl not found" : `openssl ${grouped(signatures)} signatures/s`,
      ratio: signatures === null ? null : rate / signatures,
      aim: `≥ ${grouped(least)}/s on ${cores} cores`,
      isMet: rate >= least,
    },
    {
      what: "memory of API and delivery process",
      measured: `${memory.join(" + ")} MiB`,
      aim: "",
      isMet: null,
    },
  ];
}
