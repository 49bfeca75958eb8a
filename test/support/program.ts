/**
 * Runs the real program: `node bin/posthaste.js serve` in a separate process group, so that one signal reaches all its
 * processes, delivery included. It listens on a free port; tests read its log.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { apiCaller, type CallApi } from "./api-caller.ts";
import { eventually } from "./eventually.ts";
import { launcherOf } from "./release.ts";

const START_MS = 60_000;
/** The log lines with the address that a start listens on. */
const LISTENS: ReadonlySet<string> = new Set(["Posthaste listens", "health and metrics listen"]);
/** How many lines of output the error of a failed start shows. */
const LAST_LINES = 20;

export interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly address?: string;
  readonly port?: number;
  readonly isImplicitTls?: boolean;
}

/** The environment of the program. Tests call the API with the bootstrap key. */
export type ProgramSettings = Readonly<Record<string, string>> & { readonly BOOTSTRAP_API_KEY: string };

/** How a process ended: its exit code, or the signal that ended it. */
export type Ending = readonly [code: number | null, signal: NodeJS.Signals | null];

export interface Program extends AsyncDisposable {
  /** The URL of the API, or without the role api that of HEALTH_PORT; the port changes with every start. */
  readonly url: string;
  /** Id of the current process and of its group. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** The last lines of stdout and stderr. */
  readonly recentOutput: string;
  /** Calls the API with the bootstrap key. */
  readonly call: CallApi;
  /** All log lines with this message since the first start, in order. */
  logged(message: string): readonly LogLine[];
  /** Starts the program again; resolves when it is ready. */
  start(): Promise<void>;
  /** Sends SIGKILL to all processes, any other signal to the first one. Resolves when the first one has ended. */
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** Runs a command of the operator with the same settings; resolves to its output. */
  command(...words: string[]): Promise<string>;
}

/** Running programs, which are killed if this process exits first. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach(killGroup));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));

/**
 * @param settings the environment; of this process's environment only PATH is passed on
 * @param words arguments of the command line
 * @param command what is run with them: the launcher of this checkout unless it is that of a package or an image
 */
export async function startProgram(
  settings: ProgramSettings,
  words: readonly string[] = ["serve"],
  command: readonly string[] = [process.execPath, launcherOf()],
): Promise<Program> {
  const [file = "", ...before] = command;
  const { PATH = "" } = process.env;
  const env = { PATH, HOST: "127.0.0.1", PORT: "0", RATE_LIMIT: "off", ...settings };
  const log: LogLine[] = [];
  const output: string[] = [];
  let child: ChildProcess | undefined;
  let url = "";
  const logged = (message: string) => log.filter(({ msg }) => msg === message);
  const addresses = () => log.filter(({ msg }) => LISTENS.has(msg)).map(({ address }) => address);

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
    get recentOutput() {
      return output.slice(-LAST_LINES).join("\n");
    },
    call: apiCaller(() => url, settings.BOOTSTRAP_API_KEY),
    logged,
    async start() {
      const starts = addresses().length;
      const started = spawn(file, [...before, ...words], {
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
        if (!running.has(started)) throw new Error("the program has ended");
        return addresses()[starts];
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
      if (child === undefined || !program.isRunning) throw new Error("the program is not running");
      const ended = once(child, "exit");
      if (signal === "SIGKILL") killGroup(child);
      else child.kill(signal);
      return (await ended) as [number | null, NodeJS.Signals | null];
    },
    async command(...words) {
      return (await promisify(execFile)(file, [...before, ...words], { env })).stdout;
    },
    async [Symbol.asyncDispose]() {
      // SIGTERM, because the embedded PostgreSQL has a separate process group and must be stopped by the program.
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
    // The process group is empty.
  }
}
