/** Renews the build of the console while the service starts, in a process of its own: the start neither waits for it nor fails. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ConsoleBuild } from "#platform/console/console-build.ts";
import type { Log } from "#platform/log/log.ts";

const script = fileURLToPath(new URL("../build-console.ts", import.meta.url));
/** How much of what the build says is logged when it fails: the end. */
const MOST_OUTPUT = 2_000;

/** Resolves when the build is that of the sources, has failed, or cannot be made here. */
export async function renewConsoleBuild(log: Log, signal: AbortSignal): Promise<void> {
  const build = new ConsoleBuild();
  try {
    if (build.builder === undefined || !(await build.isStale()) || signal.aborted) return;
    const startedAt = performance.now();
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(-MOST_OUTPUT);
    });
    const stop = () => child.kill();
    signal.addEventListener("abort", stop);
    const [code] = (await once(child, "close")) as [number | null];
    signal.removeEventListener("abort", stop);
    if (signal.aborted) return;
    if (code === 0) log.info({ ms: Math.round(performance.now() - startedAt) }, "the console was built");
    else log.warn({ output: output.trim() }, "the console could not be built");
  } catch (err) {
    log.warn({ err }, "the console could not be built");
  }
}
