/** The migrations of a version of the program: its files db/migrations/*.sql. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { version } from "#platform/version.ts";

/** A version of the program with its migrations. */
export interface Release {
  /** Such as "0.2.0". */
  readonly version: string;
  /** The folder of its migrations. */
  readonly migrations: URL;
}

export interface Migration {
  readonly name: string;
  readonly statements: string;
  /** SHA-256 of the statements, in hexadecimal. */
  readonly digest: string;
  /** The oldest version of the program that can work with the schema afterwards; null: any. */
  readonly needsProgram: string | null;
  readonly isInTransaction: boolean;
}

const NEEDS = /^-- Needs program (\d+\.\d+\.\d+)$/m;
const NO_TRANSACTION = /^-- Not in a transaction$/m;
/** A concurrent `create index` or `drop index` that fails when it has been made already. */
const ONCE_ONLY = /\bindex\s+concurrently\b(?!\s+if\s+(?:not\s+)?exists\b)/i;

export const thisRelease: Release = {
  version,
  migrations: new URL("../../../db/migrations/", import.meta.url),
};

/**
 * In the order of their application.
 * @throws Error if a migration outside a transaction could not be applied again after a kill before it was recorded
 */
export async function readMigrations({ migrations }: Release): Promise<Migration[]> {
  const names = (await readdir(migrations)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const statements = await readFile(new URL(name, migrations), "utf8");
      const isInTransaction = !NO_TRANSACTION.test(statements);
      if (!isInTransaction && ONCE_ONLY.test(statements)) {
        throw new Error(`migration ${name} must say "if not exists" or "if exists" after "concurrently"`);
      }
      return {
        name,
        statements,
        digest: createHash("sha256").update(statements).digest("hex"),
        needsProgram: NEEDS.exec(statements)?.[1] ?? null,
        isInTransaction,
      };
    }),
  );
}
