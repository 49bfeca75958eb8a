/** The passphrase of the secret keys in a backup: from a file, the environment or a prompt, never from the command line. */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { fileFault } from "#cli/command/file-fault.ts";
import { readConfig } from "#platform/config/config.ts";

const LEAST_CHARACTERS = 12;

export interface PassphraseSource {
  /** Of the option --passphrase-file. */
  readonly file: string | undefined;
  /** Whether a prompt asks twice, because nothing can check the passphrase. */
  readonly isNew: boolean;
}

/** @throws Error if there is none, or a new one is too short */
export async function readPassphrase(
  options: Pick<CliOptions, "environment" | "stdin" | "stderr">,
  { file, isNew }: PassphraseSource,
): Promise<string> {
  const given =
    file !== undefined
      ? await readPassphraseFile(file)
      : (readConfig(options.environment).POSTHASTE_BACKUP_PASSPHRASE ?? (await ask(options, isNew)));
  // Whichever way it comes, the same passphrase opens a backup.
  const passphrase = firstLine(given);
  if (isNew && passphrase.length < LEAST_CHARACTERS) {
    throw new Error(`the passphrase must have at least ${LEAST_CHARACTERS} characters`);
  }
  return passphrase;
}

async function readPassphraseFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (fault) {
    throw fileFault(
      `the passphrase file ${file}`,
      fault,
      "name with --passphrase-file a file whose first line is the passphrase",
    );
  }
}

const firstLine = (text: string) => text.split(/\r?\n/, 1)[0] ?? "";

async function ask({ stdin, stderr }: Pick<CliOptions, "stdin" | "stderr">, isNew: boolean): Promise<string> {
  if (!(stdin instanceof Readable) || !("isTTY" in stdin) || stdin.isTTY !== true) {
    throw new Error(
      `the secret keys in the backup need a passphrase: name a file with --passphrase-file, or set POSTHASTE_BACKUP_PASSPHRASE`,
    );
  }
  // The line editor switches the echo of the terminal off, and writes what is typed to nowhere.
  const lines = createInterface({ input: stdin, output: new PassThrough().resume(), terminal: true });
  const answers = lines[Symbol.asyncIterator]();
  const question = async (text: string): Promise<string> => {
    stderr.write(text);
    const { value, done } = await answers.next();
    stderr.write("\n");
    // Ctrl-C and Ctrl-D end the input.
    if (done) throw new Error("no passphrase was given");
    return value;
  };
  try {
    const passphrase = await question("Passphrase for the secret keys: ");
    if (isNew && (await question("The same passphrase again: ")) !== passphrase) {
      throw new Error("the two passphrases differ");
    }
    return passphrase;
  } finally {
    lines.close();
  }
}
