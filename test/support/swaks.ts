/** Runs swaks, an SMTP test client, with the command lines of docs/. */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

export const isSwaksInstalled = canRun();

/**
 * Runs the example of a page with another port; resolves to the whole dialogue. Rejects if swaks fails.
 * @param name such as submission.md
 */
export async function runSwaksExample(name: string, port: number, key = ""): Promise<string> {
  const page = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  const example = /^```sh\n(swaks [^`]*)```/m.exec(page)?.[1];
  if (example === undefined) throw new Error(`docs/${name} has no example for swaks`);
  const command = example.replace(/--port \d+/, `--port ${port}`);
  const env = { PATH: process.env.PATH, KEY: key };
  return (await promisify(execFile)("sh", ["-c", command], { env, timeout: 60_000 })).stdout;
}

/** True if swaks and its optional Perl module for TLS are installed. */
function canRun(): boolean {
  try {
    return execFileSync("swaks", ["--support"], { encoding: "utf8", stdio: "pipe" }).includes(
      "TLS supported",
    );
  } catch {
    return false;
  }
}
