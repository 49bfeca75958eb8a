/** The file of a backup, which has its name only once it is complete and on the disk. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { access, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Writable } from "node:stream";
import type { Output } from "#cli/command/output.ts";

/**
 * Runs `write` on FILE.partial (mode 0600), and renames it to FILE. After a failure neither is there.
 * @throws Error if the file exists
 */
export async function writeNewFile<Result>(
  file: string,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error(`${file} exists: name another file`);
  const partial = `${file}.partial`;
  // A killed backup may have left one.
  await rm(partial, { force: true });
  try {
    const output = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
    await once(output, "open");
    const result = await write(output);
    output.end();
    await once(output, "close");
    await rename(partial, file);
    await using folder = await open(dirname(file));
    await folder.sync();
    return result;
  } catch (fault) {
    await rm(partial, { force: true });
    throw fault;
  }
}

/** Standard output as a stream. @throws Error if it is a terminal */
export function streamOf(stdout: Output): Writable {
  if (stdout.isTTY)
    throw new Error("a backup is not for a terminal: redirect standard output, or name a file");
  if (!(stdout instanceof Writable)) throw new TypeError("standard output is not a stream");
  return stdout;
}
