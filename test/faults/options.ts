/** Reads the command line of the fault scripts: whole numbers with defaults, and the random seed. */
import { parseArgs } from "node:util";

/** Reads options such as `--kills 50` and ignores a leading `--`. Wrong usage exits with 2. */
export function readNumbers<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Record<Name | "seed", number> {
  const all: Record<string, number> = { ...defaults, seed: Date.now() % 1_000_000 };
  const options = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, { type: "string", default: String(value) } as const]),
  );
  const args = process.argv.slice(2).filter((word) => word !== "--");
  try {
    const { values } = parseArgs({ args, options });
    for (const [name, value] of Object.entries(values)) {
      all[name] = Number(value);
      if (!Number.isInteger(all[name])) throw new Error(`--${name} takes a whole number`);
    }
  } catch (fault) {
    process.stderr.write(
      `${(fault as Error).message}\nOptions: ${Object.keys(all)
        .map((name) => `--${name} N`)
        .join(" ")}\n`,
    );
    process.exit(args.includes("--help") ? 0 : 2);
  }
  return all as Record<Name | "seed", number>;
}
