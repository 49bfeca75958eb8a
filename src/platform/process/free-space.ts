/** The free space of a folder. */
import { statfs } from "node:fs/promises";

/** Bytes that an ordinary user may still use in the file system of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
