/** The file of a backup, which has its name only once it is complete and on the disk. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { constants, createWriteStream, rmSync } from "node:fs";
import { access, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Writable } from "node:stream";
import { fileFault } from "#cli/command/file-fault.ts";
import type { Output } from "#cli/command/output.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** @throws Error if the file exists or has the name of a folder, or its folder is missing or cannot be written */
export async function requireNew(file: string): Promise<void> {
  requireName(file, "name a new file");
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new Error(`${file} is a folder: name a new file in it`);
  if (found !== undefined) throw taken(file);
  if (file.endsWith("/")) throw new Error(`${file} is the name of a folder: name a new file`);
  const folder = dirname(file);
  const advice = "make it, or name a file in another folder";
  await access(folder, constants.W_OK).catch((fault: unknown) => {
    throw fileFault(`the folder ${folder}`, fault, advice);
  });
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder: ${advice}`);
}

/** @param advice what to do @throws Error if the name is empty, as that of a variable of a shell that is not set */
export function requireName(file: string, advice: string): void {
  if (file === "") throw new Error(`the name of the backup is empty: ${advice}`);
}

/**
 * Runs `write` on a file beside FILE that ends in .partial (mode 0600), and gives it the name FILE. After a failure, SIGINT or
 * SIGTERM neither is there. Several may run with the same FILE: the first one gets it.
 * @throws Error if the file exists
 */
export async function writeNewFile<Result>(
  file: string,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  await requireNew(file);
  const partial = `${file}.${randomUUID()}.partial`;
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(partial, { force: true });
    // Without this listener the signal ends the process.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    const output = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
    const result = await writeTo(output, `the file ${partial}`, async () => {
      await once(output, "open");
      const written = await write(output);
      output.end();
      await once(output, "close");
      return written;
    });
    await giveName(partial, file);
    await using folder = await open(dirname(file));
    await folder.sync();
    return result;
  } finally {
    // Also fails if the name is too long, which the fault of the stream says.
    await rm(partial, { force: true }).catch(() => {});
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

/** Runs `write`. @throws Error that names the output, by `subject`, if that failed */
export async function writeTo<Result>(
  output: Writable,
  subject: string,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  let broken: Error | undefined;
  const onError = (fault: Error) => {
    broken ??= fault;
  };
  output.on("error", onError);
  try {
    return await write(output);
  } catch (fault) {
    throw broken !== undefined && fault === broken ? fileFault(subject, fault) : fault;
  } finally {
    output.off("error", onError);
  }
}

/** Unlike a rename, a link replaces no file that was made meanwhile. */
async function giveName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
    if (code === "EEXIST") throw taken(file);
    // Some file systems, such as network shares of Windows, have no links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw fault;
    if (await isThere(file)) throw taken(file);
    await rename(partial, file);
  }
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function taken(file: string): Error {
  return new Error(`${file} exists: name another file`);
}

/** Standard output as a stream. @throws Error if it is a terminal */
export function streamOf(stdout: Output): Writable {
  if (stdout.isTTY)
    throw new Error("a backup is not for a terminal: redirect standard output, or name a file");
  if (!(stdout instanceof Writable)) throw new TypeError("standard output is not a stream");
  return stdout;
}
