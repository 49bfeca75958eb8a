/** The version of this program, which backups name. */
import { readFile } from "node:fs/promises";

export async function programVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8"));
  return String(version);
}
