/** Makes a command line, and turns its end into an exit code. */
import { Command, CommanderError } from "commander";
import { sentence } from "#platform/error-sentence.ts";
import { version } from "#platform/version.ts";
import type { CliOptions } from "./command-dependencies.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

/** A command line without commands. */
export function bareProgram({ stdout, stderr }: Pick<CliOptions, "stdout" | "stderr">): Command {
  return new Command("posthaste")
    .description("Self-hosted email delivery and audience service.")
    .version(version, "--version", "print the version")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
}

/** Runs `work`, which parses and executes a command. Returns the exit code: 0, 1 (failed) or 2 (wrong usage). */
export async function exitCodeOf(
  work: () => Promise<unknown>,
  stderr: CliOptions["stderr"],
): Promise<number> {
  try {
    await work();
    return 0;
  } catch (fault) {
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : WRONG_USAGE;
    stderr.write(`error: ${sentence(fault)}\n`);
    return FAILED;
  }
}
