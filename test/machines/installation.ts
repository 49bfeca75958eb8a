/**
 * Posthaste on several machines of a test network: two with the role api, two with delivery and a source address each, one
 * with jobs, one with inbound, and one with PostgreSQL. This process is the machine of the others: clients, receivers, DNS.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recipientZone } from "#test/faults/fault-run.ts";
import { type CountingMx, startCountingMx } from "#test/support/counting-mx.ts";
import { type DatabaseServer, ServerFolder } from "#test/support/database-server.ts";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { type Host, Network } from "#test/support/network.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { launcherOf } from "#test/support/release.ts";
import { platform } from "#test/support/scene.ts";
import { startReceiver, type WebhookReceiver } from "#test/support/webhook-receiver.ts";

export const apiKey = `efk_${"mach".repeat(10)}`;
export const SECRET_KEY = "5".repeat(64);
export const INBOUND_PORT = 2525;
const API_PORT = "8080";
const HEALTH_PORT = "8081";
/** Each process of six machines has some. */
const MOST_CONNECTIONS = "300";
/** The receiver answers slowly, so that messages are always in flight. */
const ANSWER_MS = 20;

export interface Machine {
  readonly name: string;
  readonly roles: string;
  readonly host: Host;
  program: Program;
}

/** The machines besides the database, with the last part of their addresses. */
const layout = [
  { name: "api-1", number: 21, roles: "api" },
  { name: "api-2", number: 22, roles: "api" },
  { name: "delivery-1", number: 31, roles: "delivery" },
  { name: "delivery-2", number: 32, roles: "delivery" },
  { name: "jobs-1", number: 41, roles: "jobs" },
  { name: "inbound-1", number: 51, roles: "inbound" },
];

/** What the machines work with, apart from each other. */
interface Parts {
  readonly folder: string;
  readonly network: Network;
  readonly databaseHost: Host;
  readonly database: DatabaseServer;
  readonly dns: FakeDns;
  readonly mx: CountingMx;
  readonly events: WebhookReceiver;
}

export class Installation implements AsyncDisposable {
  readonly parts: Parts;
  /** In the order in which they were started. */
  readonly machines = new Map<string, Machine>();
  readonly #owned: AsyncDisposableStack;

  private constructor(parts: Parts, owned: AsyncDisposableStack) {
    this.parts = parts;
    this.#owned = owned;
  }

  /** Builds the network and starts every machine. */
  static async start(): Promise<Installation> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "posthaste-machines-"));
    stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const network = stack.use(await Network.make());
    const { address } = network;
    const mx = await startCountingMx({ answerMs: ANSWER_MS, host: address });
    stack.defer(() => mx.stop());
    const dns = stack.use(await startFakeDns(recipientZone(address), address));
    const events = stack.use(await startReceiver(address));
    const databaseHost = await network.addHost("database", 10);
    const servers = stack.use(await ServerFolder.make());
    const database = await servers.start("database", databaseHost, { max_connections: MOST_CONNECTIONS });
    const parts = { folder, databaseHost, database, dns, mx, events, network };
    const installation = new Installation(parts, stack.move());
    try {
      for (const { name, number, roles } of layout) await installation.add(name, number, roles);
    } catch (fault) {
      await installation[Symbol.asyncDispose]();
      throw fault;
    }
    return installation;
  }

  /** Adds a machine and starts it. */
  async add(name: string, number: number, roles: string): Promise<Machine> {
    const host = await this.parts.network.addHost(name, number);
    const program = await this.#startOn(host, roles);
    const machine = { name, roles, host, program };
    this.machines.set(name, machine);
    return machine;
  }

  /** Stops the machine's program and starts another release of it, or this checkout. */
  async replaceProgram(machine: Machine, root?: string): Promise<void> {
    await machine.program.kill("SIGTERM");
    machine.program = await this.#startOn(machine.host, machine.roles, root);
  }

  machine(name: string): Machine {
    const found = this.machines.get(name);
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.machines.values()].filter(({ program }) => program.isRunning);
    await Promise.all(running.map(({ host }) => host.killProcesses()));
    await this.#owned.disposeAsync();
  }

  #startOn(host: Host, roles: string, root?: string): Promise<Program> {
    return startProgram(
      {
        ...platform,
        BOOTSTRAP_API_KEY: apiKey,
        BOOTSTRAP_PLAN: "enterprise",
        SECRET_KEY,
        DATABASE_URL: this.parts.database.url,
        DATA_DIR: join(this.parts.folder, host.name),
        HOST: host.address,
        PORT: API_PORT,
        PUBLIC_URL: "https://post.posthaste.test",
        HEALTH_PORT,
        ...(roles === "inbound" ? { INBOUND_PORT: String(INBOUND_PORT), INBOUND_HOST: host.address } : {}),
        MAIL_MODE: "direct",
        SMTP_PORT: String(this.parts.mx.port),
        DNS_SERVERS: this.parts.dns.address,
        ALLOW_PRIVATE_MX: "true",
        ALLOW_PRIVATE_WEBHOOKS: "true",
      },
      ["serve", "--roles", roles],
      [...host.enter, process.execPath, launcherOf(root)],
    );
  }
}
