/** Starts the demo's service: a child process in capture mode with a separate folder and port. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { settings } from "#platform/config/settings.ts";
import { until } from "./api-client.ts";

const HOST = "127.0.0.1";
const FIRST_PORT = 8080;
/** Sender of platform mail, such as the mail that confirms a sender. */
const PLATFORM_FROM = "posthaste@demo.example";

export interface DemoService {
  readonly url: string;
  /** The environment with which commands reach its database. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Ignores the settings in `environment`: the demo must not use a configured database or send mail. */
export async function startDemoService(
  environment: Readonly<Record<string, string | undefined>>,
  dataDir: string,
  port: number | null,
): Promise<DemoService> {
  const own = {
    HOST,
    PORT: String(port ?? (await freePort(FIRST_PORT)) ?? (await freePort(0))),
    DATA_DIR: dataDir,
    MAIL_MODE: "capture",
    RATE_LIMIT: "off",
    PLATFORM_FROM,
  };
  const inherited = Object.entries(environment).filter(([name]) => !(name in settings));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const logFile = join(dataDir, "service.log");
  const log = openSync(logFile, "w", 0o600);
  const child = fork(new URL("../../main.ts", import.meta.url), ["serve"], {
    env: { ...Object.fromEntries(inherited), ...own },
    // A terminal's Ctrl-C reaches the whole process group: the demo stops the service itself.
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  const ended = once(child, "exit");
  const url = `http://${HOST}:${own.PORT}`;
  await until("the service to be ready", () => isReady(child, url, logFile));
  return {
    url,
    environment: own,
    logFile,
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
    },
  };
}

async function isReady(child: ChildProcess, url: string, logFile: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`the service could not start; ${logFile} says why`);
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Returns the port if it is free (any free port for 0), otherwise null. */
async function freePort(port: number): Promise<number | null> {
  const server = createServer().listen(port, HOST);
  try {
    await once(server, "listening");
  } catch {
    return null;
  }
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return found;
}
