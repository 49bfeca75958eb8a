/**
 * The real program as a process: `node bin/posthaste.js serve`, in a process group of its own, so that one signal can
 * take the whole of it, delivery process included. It listens on a free port and is followed through its log.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { apiCaller, type CallApi } from "./api-caller.ts";
import { eventually } from "./eventually.ts";

const launcher = fileURLToPath(new URL("../../bin/posthaste.js", import.meta.url));
const START_MS = 60_000;
/** What a failed start shows of the output. */
const LAST_LINES = 20;

export interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly address?: string;
  readonly port?: number;
}

/** The environment; the key makes the API ours to call. */
export type ProgramSettings = Readonly<Record<string, string>> & { readonly BOOTSTRAP_API_KEY: string };

/** How a process ended: its code, or the signal that ended it. */
export type Ending = readonly [code: number | null, signal: NodeJS.Signals | null];

export interface Program extends AsyncDisposable {
  /** Where it listens now; another port after every start. */
  readonly url: string;
  /** The process started last, which is also its group. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** What it wrote last, log and errors alike. */
  readonly lastWords: string;
  /** With the bootstrap key. */
  readonly call: CallApi;
  /** What it logged under this message since the first start, in order. */
  logged(message: string): readonly LogLine[];
  /** Starts it again; resolves when it is ready. */
  start(): Promise<void>;
  /** SIGKILL goes to all of its processes at once, any other signal to the first; resolves when that has ended. */
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** Runs an operator's command with the same settings; resolves to what it printed. */
  command(...words: string[]): Promise<string>;
}

/** Nobody would end these if this process ended before them. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach(killGroup));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));

/**
 * @param settings the environment; of our own only PATH reaches the program
 * @param words its command line
 */
export async function startProgram(
  settings: ProgramSettings,
  words: readonly string[] = ["serve"],
): Promise<Program> {
  const { PATH = "" } = process.env;
  const env = { PATH, HOST: "127.0.0.1", PORT: "0", RATE_LIMIT: "off", ...settings };
  const log: LogLine[] = [];
  const output: string[] = [];
  let child: ChildProcess | undefined;
  let url = "";
  const logged = (message: string) => log.filter(({ msg }) => msg === message);

  const program: Program = {
    get url() {
      return url;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    get isRunning() {
      return child !== undefined && running.has(child);
    },
    get lastWords() {
      return output.slice(-LAST_LINES).join("\n");
    },
    call: apiCaller(() => url, settings.BOOTSTRAP_API_KEY),
    logged,
    async start() {
      const starts = logged("Posthaste listens").length;
      const started = spawn(process.execPath, [launcher, ...words], {
        env,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      running.add(started.once("exit", () => running.delete(started)));
      for (const input of [started.stdout, started.stderr]) {
        createInterface({ input }).on("line", (line) => {
          output.push(line);
          if (line.startsWith("{")) log.push(JSON.parse(line) as LogLine);
        });
      }
      const address = async () => {
        if (!running.has(started)) throw new Error("it has ended");
        return logged("Posthaste listens")[starts]?.address;
      };
      try {
        url = await eventually("the program to listen", address, START_MS);
        await eventually("the program to be ready", async () => (await fetch(`${url}/readyz`)).ok, START_MS);
      } catch (cause) {
        killGroup(started);
        throw new Error(`The program did not start:\n${output.slice(-LAST_LINES).join("\n")}`, { cause });
      }
    },
    async kill(signal) {
      if (child === undefined || !program.isRunning) throw new Error("the program does not run");
      const ended = once(child, "exit");
      if (signal === "SIGKILL") killGroup(child);
      else child.kill(signal);
      return (await ended) as [number | null, NodeJS.Signals | null];
    },
    async command(...words) {
      return (await promisify(execFile)(process.execPath, [launcher, ...words], { env })).stdout;
    },
    async [Symbol.asyncDispose]() {
      // In good order, because an embedded PostgreSQL has a process group of its own.
      if (program.isRunning) await program.kill("SIGTERM");
    },
  };
  await program.start();
  return program;
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // There is nobody left in it.
  }
}
