import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../bin/posthaste.js", import.meta.url));

export interface Program { readonly pid: number; readonly output: () => string; stop(signal?: NodeJS.Signals): Promise<void> }

export function startProgram(args: readonly string[], env: Readonly<Record<string, string>>, nodeOptions: string[] = []): Program {
  const child = spawn(process.execPath, [...nodeOptions, launcher, ...args], { env: { ...process.env, ...env }, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => { output += text; });
  const exited = once(child, "exit");
  return { pid: child.pid ?? 0, output: () => output, async stop(signal = "SIGTERM") { child.kill(signal); await exited; } };
}
