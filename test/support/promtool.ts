/** Runs promtool, the checker of Prometheus. */
import { execFile, execFileSync } from "node:child_process";

export const isPromtoolInstalled = canRun();

/** Resolves to the exit code and all output. */
export function promtool(
  args: readonly string[],
  input = "",
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = execFile("promtool", args, { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: `${stdout}${stderr}` }),
    );
    child.stdin?.end(input);
  });
}

function canRun(): boolean {
  try {
    execFileSync("promtool", ["--version"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}
