/** `posthaste secret-key`: which SECRET_KEY the database belongs to. */
import type { Command } from "commander";
import { readConfig } from "../platform/config.ts";
import { replaceFingerprint } from "../platform/secret-key-store.ts";
import { createSecrets, loadSecretKey } from "../platform/secrets.ts";
import { withDatabase } from "./database.ts";
import type { CliOptions } from "./program.ts";

export function addSecretKeyCommands(program: Command, { stdout, environment }: CliOptions): void {
  const secretKey = program.command("secret-key").description("the key that the database belongs to");
  secretKey
    .command("accept")
    .description("make this machine's key the database's, where the one before is lost for good")
    .action(async () => {
      const { SECRET_KEY, DATA_DIR } = readConfig(environment);
      const { fingerprint } = createSecrets(loadSecretKey(SECRET_KEY, DATA_DIR));
      await withDatabase(environment, (db) => replaceFingerprint(db, fingerprint));
      stdout.write("The database belongs to this machine's secret key now.\n");
    });
}
