/** The files of a job as tests give and read them. */
import type { Database } from "#platform/database/pool.ts";
import type { FileKey } from "#platform/jobs/file-store.ts";
import { readWhole, storeWhole } from "#platform/jobs/files.ts";

export async function writeJobFile(db: Database, file: FileKey, text: string): Promise<void> {
  await storeWhole(db, file, Buffer.from(text));
}

/** Throws where there is none. */
export async function readJobFile(db: Database, file: FileKey): Promise<string> {
  const content = await readWhole(db, file);
  if (content === undefined) throw new Error(`no file ${file.name}`);
  return content.toString();
}
