/**
 * Backs up Posthaste under load, kills it, restores the backup in place of what was lost, and counts:
 *
 *     npm run restore-loop -- --rounds 3 --messages 2000 [--rate 200] [--workers 1] [--seed N]
 *
 * A client sends without pause; the backup begins at a random moment, and some time after its end the whole program gets SIGKILL
 * and its DATA_DIR is put away. The restored program goes on with the next round. The script exits with 1 if
 * - a message that was accepted before the backup began is not in the restored database, or never arrived,
 * - something arrived before the release,
 * - a message arrived again that did not wait at the moment of the backup,
 * - a counter of the restored database differs from its log.
 */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { findMiscounts } from "#cli/doctor/counters.ts";
import { eventually } from "#test/support/eventually.ts";
import { platform } from "#test/support/scene.ts";
import {
  apiKey,
  conclude,
  type FaultRun,
  inDatabase,
  recipientDomain,
  say,
  startFaultRun,
  waitForEmptyQueue,
} from "./fault-run.ts";
import { brokenInvariants } from "./invariants.ts";
import { survivors } from "./kill-targets.ts";
import { findLostOrDuplicated } from "./lost-or-duplicated.ts";
import { readNumbers } from "./options.ts";
import { randomFrom } from "./random.ts";
import { startRetryingClient } from "./retrying-client.ts";

/** The program goes on for this long after a backup, so that the restore loses something. */
const AFTER_MS = 2_000;
/** How long a restored program is watched before its release. */
const HELD_MS = 3_000;

const domain = platform.PLATFORM_FROM.split("@")[1];
const messageIdOf = (id: string) => `${id}@${domain}`;

interface Round {
  /** All messages of the restored database. */
  readonly ids: readonly string[];
  /** Those that waited at the moment of the backup. */
  readonly waiting: readonly string[];
  readonly faults: readonly string[];
}

const { rounds, messages, rate, workers, seed } = readNumbers({
  rounds: 3,
  messages: 2_000,
  rate: 200,
  workers: 1,
});
say(`seed ${seed}`);
const random = randomFrom(seed);
const run = await startFaultRun({ workers });
const passphraseFile = join(run.folder, "passphrase");
await writeFile(passphraseFile, randomBytes(24).toString("hex"));
const faults: string[] = [];
/** Message-IDs that may come once more, by how often. */
const excused = new Map<string, number>();
let ids: readonly string[] = [];
for (let round = 1; round <= rounds; round++) {
  const outcome = await playRound(run, round);
  faults.push(...outcome.faults);
  ids = outcome.ids;
  for (const id of outcome.waiting) excused.set(messageIdOf(id), (excused.get(messageIdOf(id)) ?? 0) + 1);
}
await run.program.kill("SIGTERM");
faults.push(...(await inDatabase(run, brokenInvariants)));
const count = await run.mx.count();
// What was accepted after the backup is unknown to the restored database, and may have arrived.
const known = new Set(ids.map(messageIdOf));
const copies = new Map([...count.copies].filter(([id]) => known.has(id)));
faults.push(...findLostOrDuplicated({ ...count, copies }, [...known], excused));
await conclude(run, faults, seed);

async function playRound({ program, mx, dataDir, folder, groups }: FaultRun, round: number): Promise<Round> {
  const client = startRetryingClient({
    url: () => program.url,
    apiKey,
    rate,
    keyPrefix: `round-${round}`,
    emailFor: (number) => ({
      to: `user${number}@${recipientDomain(number)}`,
      subject: `Message ${number} of round ${round}`,
      body: `<p>This is message ${number}.</p>\n`.repeat(1 + (number % 50)),
    }),
  });
  const begin = random.between(Math.ceil(messages / 2), messages);
  while (client.accepted.size < begin) await delay(20);
  const before = [...client.accepted.values()];
  const file = join(folder, `round-${round}.backup`);
  await program.command("backup", file, "--with-secret-key", "--passphrase-file", passphraseFile);
  await delay(AFTER_MS);
  const after = client.accepted.size - before.length;
  await program.kill("SIGKILL");
  client.abandon();
  await eventually("every process of the program to end", async () => (await survivors(groups)).length === 0);
  await rename(dataDir, `${dataDir}-${round}`);
  await program.command("restore", file, "--passphrase-file", passphraseFile);
  const found = await inDatabase(run, async (db) => ({
    ids: (await db.rows<{ id: string }>(sql`select id from messages`)).map(({ id }) => id),
    waiting: (await db.rows<{ id: string }>(sql`select message_id as id from delivery_queue`)).map(
      ({ id }) => id,
    ),
    miscounts: await findMiscounts(db),
  }));
  const restored = new Set(found.ids);
  const lost = before.filter((id) => !restored.has(id));
  say(
    `round ${round}: ${before.length} accepted before the backup, ${after} after it; restored ${found.ids.length}, of them waiting ${found.waiting.length}, lost ${lost.length}`,
  );
  const { received } = await mx.count();
  await program.start();
  groups.add(program.pid);
  await delay(HELD_MS);
  const early = (await mx.count()).received - received;
  await program.command("sending", "release");
  const timeouts = await waitForEmptyQueue(run);
  await rm(`${dataDir}-${round}`, { recursive: true, force: true, maxRetries: 5 });
  return {
    ...found,
    faults: [
      ...lost.slice(0, 3).map((id) => `accepted before the backup and not restored: ${id}`),
      ...(early === 0 ? [] : [`${early} messages arrived before the release`]),
      ...found.miscounts.slice(0, 3).map((one) => `a wrong counter: ${JSON.stringify(one)}`),
      ...client.refused.slice(0, 3).map((text) => `an answer that a correct client must not get: ${text}`),
      ...timeouts,
    ],
  };
}
