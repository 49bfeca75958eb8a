/** Writes and reads the files of a job as text. */
import type { Database } from "#platform/database/pool.ts";
import type { FileKey } from "#platform/jobs/file-store.ts";
import { readWhole, storeWhole } from "#platform/jobs/files.ts";

export async function writeJobFile(db: Database, file: FileKey, text: string): Promise<void> {
  await storeWhole(db, file, Buffer.from(text));
}

/** Reads a file of a job. @throws if it does not exist */
export async function readJobFile(db: Database, file: FileKey): Promise<string> {
  const content = await readWhole(db, file);
  if (content === undefined) throw new Error(`no file ${file.name}`);
  return content.toString();
}
