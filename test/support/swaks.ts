/** swaks, the SMTP client that operators try servers with, as docs/submission.md calls it. */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

export const isSwaksInstalled = canRun();

/** Runs the example of the page, at another port, and gives the whole conversation. Rejects when swaks is not content. */
export async function runSwaksExample(port: number, key: string): Promise<string> {
  const page = readFileSync(new URL("../../docs/submission.md", import.meta.url), "utf8");
  const example = /^```sh\n(swaks [^`]*)```/m.exec(page)?.[1];
  if (example === undefined) throw new Error("docs/submission.md has no example for swaks");
  const command = example.replace("--port 587", `--port ${port}`);
  const env = { PATH: process.env.PATH, KEY: key };
  return (await promisify(execFile)("sh", ["-c", command], { env, timeout: 60_000 })).stdout;
}

/** TLS takes a Perl module that may be missing. */
function canRun(): boolean {
  try {
    return execFileSync("swaks", ["--support"], { encoding: "utf8", stdio: "pipe" }).includes(
      "TLS supported",
    );
  } catch {
    return false;
  }
}
