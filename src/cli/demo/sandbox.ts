/** The demo's own service: a child in capture mode with a folder and a port of its own, which ends with the demo. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { settings } from "#platform/config/settings.ts";
import { until } from "./api.ts";

const HOST = "127.0.0.1";
const FIRST_PORT = 8080;
/** Of the platform's own mail, such as the one that confirms a sender. */
const PLATFORM_FROM = "posthaste@demo.example";

export interface DemoService {
  readonly url: string;
  /** What commands take to reach its database. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** None of the caller's settings counts: the demo must not reach a database or a world that is somebody's. */
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
    // The service decides itself how it ends; a terminal's Ctrl-C would tell it before the demo does.
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

/** That port, or with 0 any, if nobody listens there. */
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
