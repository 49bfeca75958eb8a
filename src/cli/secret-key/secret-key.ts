/** `posthaste secret-key`: the keys that the database belongs to, and how they are changed. */

import type { Command } from "commander";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { requireDatabase, withInstallation } from "#cli/command/database.ts";
import { json, table } from "#cli/command/output.ts";
import { readConfig } from "#platform/config/config.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Database } from "#platform/database/pool.ts";
import {
  listRunningRings,
  listSecretKeys,
  retireOtherKeys,
  saveSecretKey,
} from "#platform/secrets/key-fingerprints-store.ts";
import { findSecretKeys, keyFile, loadSecretKeys } from "#platform/secrets/key-ring.ts";
import { countSealed } from "#platform/secrets/reseal-store.ts";
import { createSecrets, shortFingerprint } from "#platform/secrets/secrets.ts";
import { type MachineKeys, machineKeys } from "./machine-keys.ts";
import { retire } from "./retire.ts";
import { rotate } from "./rotate.ts";
import { sealedColumns } from "./sealed-columns.ts";

const columns = ["fingerprint", "state", "here", "sealed_values", "processes", "last_used_at"] as const;

export function addSecretKeyCommands(program: Command, { stdout, environment }: CliOptions): void {
  const withKeys = <Result>(work: (db: Database, keys: MachineKeys) => Promise<Result>) =>
    withInstallation(environment, (db) => work(db, machineKeys(readConfig(environment))));
  const secretKey = program.command("secret-key").description("the keys that the database belongs to");
  secretKey
    .command("list")
    .description("show every key by its fingerprint, and what still needs it")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const { keys, unopened } = await withKeys(listKeys);
      if (options.json) {
        stdout.write(json({ keys, unopened }));
        return;
      }
      stdout.write(table(columns, keys));
      if (unopened > 0) stdout.write(`No key of this machine opens ${counted(unopened, "sealed value")}.\n`);
    });
  secretKey
    .command("rotate")
    .description("take the next step towards a new key, and say what comes after it")
    .option("--another", "begin a rotation although earlier keys are not retired yet")
    .action(async ({ another = false }: { readonly another?: boolean }) => {
      stdout.write(await withKeys((db, keys) => rotate(db, keys, another)));
    });
  secretKey
    .command("retire <fingerprint>")
    .description("declare an earlier key no longer needed")
    .option("--yes", "do so, whatever was signed with it")
    .action(async (fingerprint: string, { yes = false }: { readonly yes?: boolean }) => {
      stdout.write(await withKeys((db, keys) => retire(db, keys, fingerprint, yes)));
    });
  secretKey
    .command("accept")
    .description("make this machine's keys the database's, where the ones before are lost for good")
    .action(async () => {
      const { SECRET_KEY, DATA_DIR } = readConfig(environment);
      requireDatabase(environment);
      // A missing key is created, because the earlier key is lost.
      const isNew = findSecretKeys(SECRET_KEY, DATA_DIR) === undefined;
      const { fingerprints } = createSecrets(...loadSecretKeys(SECRET_KEY, DATA_DIR));
      // Before the database is asked: if that fails, the file is there.
      if (isNew) {
        stdout.write(
          `This machine had no secret key: a new one is in ${keyFile(DATA_DIR)}. Keep a copy in another place, apart from backups, and give every machine the same key.\n`,
        );
      }
      await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          await retireOtherKeys(tx, fingerprints);
          await saveSecretKey(tx, fingerprints[0]);
        }),
      );
      stdout.write("The database belongs to this machine's secret key now.\n");
    });
}

async function listKeys(db: Database, { secrets }: MachineKeys) {
  const [known, rings, { byPosition, unopened }] = [
    await listSecretKeys(db),
    await listRunningRings(db),
    await countSealed(db, secrets, sealedColumns),
  ];
  const positionOf = (fingerprint: Buffer) =>
    secrets.fingerprints.findIndex((own) => own.equals(fingerprint));
  const isKnown = (own: Buffer) => known.some(({ fingerprint }) => fingerprint.equals(own));
  const fresh = secrets.fingerprints
    .filter((own) => !isKnown(own))
    .map((fingerprint) => ({ fingerprint, last_used_at: null, retired_at: null, isFresh: true }));
  const keys = [...known.map((key) => ({ ...key, isFresh: false })), ...fresh].map(
    ({ fingerprint, last_used_at, retired_at, isFresh }) => {
      const position = positionOf(fingerprint);
      const state = retired_at !== null ? "retired" : isFresh ? "not yet used" : "in use";
      return {
        fingerprint: shortFingerprint(fingerprint),
        state,
        here: position < 0 ? "missing" : position === 0 ? "seals and signs" : "opens and verifies",
        sealed_values: byPosition[position] ?? null,
        processes: rings.filter(({ fingerprints }) => fingerprints[0]?.equals(fingerprint)).length,
        last_used_at,
      };
    },
  );
  return { keys, unopened };
}
