/** Posthaste as a stranger starts it: the launcher, in a process group of its own, on a free port. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../bin/posthaste.js", import.meta.url));
const LOOK_MS = 5;
const READY_MS = 60_000;

export interface Program extends AsyncDisposable {
  readonly url: string;
  /** Of the process, and of its group. */
  readonly pid: number;
  /** Milliseconds from its start to the first 200 of /readyz. */
  readonly readyAfterMs: number;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

/** Resolves when it is ready. Only PATH and HOME of our own environment reach it. */
export async function startProgram(options: {
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}): Promise<Program> {
  const port = await freePort();
  const { PATH = "", HOME = "" } = process.env;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [launcher, ...(options.args ?? ["serve"])], {
    env: { PATH, HOME, ...options.env, PORT: String(port) },
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`);
    if (performance.now() - startedAt > READY_MS) throw new Error("the program did not become ready");
    await delay(LOOK_MS);
  }
  const readyAfterMs = performance.now() - startedAt;
  return { url, pid: child.pid ?? 0, readyAfterMs, stop, [Symbol.asyncDispose]: stop };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
