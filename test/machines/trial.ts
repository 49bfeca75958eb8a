/** Faults of single machines under load, one after the other, and what callers see of each. */
import { setTimeout as delay } from "node:timers/promises";
import { say } from "#test/faults/fault-run.ts";
import type { Host } from "#test/support/network.ts";
import { makeRelease } from "#test/support/release.ts";
import { Installation } from "./installation.ts";
import { Work } from "./work.ts";

const DOWN_MS = 2_000;
const POLL_MS = 20;
/** Messages that are accepted between two faults. */
const BETWEEN = 100;
const BOUNCES = 5;

export class Trial implements AsyncDisposable {
  readonly #installation: Installation;
  readonly #work: Work;
  /** Copies of a message that are allowed, by Message-ID. */
  readonly #excused = new Map<string, number>();

  private constructor(installation: Installation, work: Work) {
    this.#installation = installation;
    this.#work = work;
  }

  /** Starts the machines and the load. @param rate messages per second */
  static async begin(rate: number): Promise<Trial> {
    const installation = await Installation.start();
    try {
      return new Trial(installation, await Work.begin(installation, rate));
    } catch (fault) {
      await installation[Symbol.asyncDispose]();
      throw fault;
    }
  }

  /** The machines besides the database, by name. */
  get names(): string[] {
    return [...this.#installation.machines.keys()];
  }

  async kill(name: string): Promise<void> {
    const { host, program } = this.#installation.machine(name);
    await this.#during(`killed: ${name}`, async () => {
      await host.killProcesses();
      await delay(DOWN_MS);
      await program.start();
    });
  }

  async killDatabase(): Promise<void> {
    const { database } = this.#installation.parts;
    await this.#during("killed: database", async () => {
      await database.stop();
      await delay(DOWN_MS);
      const startedAt = performance.now();
      await database.start();
      say(`the database is back after ${Math.round(DOWN_MS + performance.now() - startedAt)} ms`);
    });
  }

  /** @param name of a machine, or `database` */
  async cutOff(name: string, seconds: number): Promise<void> {
    const { databaseHost } = this.#installation.parts;
    const host = name === "database" ? databaseHost : this.#installation.machine(name).host;
    await this.#during(`cut off for ${seconds} s: ${name}`, () => this.#cutOff(host, seconds));
  }

  /** Adds a machine that delivers, and removes it again. */
  async addAndRemove(): Promise<void> {
    const name = "delivery-3";
    await this.#during(`added: ${name}`, async () => {
      await this.#installation.add(name, 33, "delivery");
    });
    await this.#during(`removed: ${name}`, async () => {
      await this.#installation.machine(name).program.kill("SIGTERM");
      this.#installation.machines.delete(name);
    });
  }

  /** Replaces the program of each machine by a later release with a further migration. */
  async upgradeAll(): Promise<void> {
    const next = await makeRelease(this.#installation.parts.folder, "99.1.0", {
      "9001-color.sql": "alter table workspaces add column color text not null default 'blue'",
    });
    for (const machine of this.#installation.machines.values()) {
      await this.#during(`upgraded: ${machine.name}`, () => this.#installation.replaceProgram(machine, next));
    }
  }

  /** Ends the load and waits until everything is done. @returns one sentence for each broken promise */
  finish(): Promise<string[]> {
    return this.#work.check(this.#excused);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#work.client.abandon();
    return this.#installation[Symbol.asyncDispose]();
  }

  /** Does something while the work goes on, and prints the longest time in which no message was accepted. */
  async #during(what: string, act: () => Promise<void>): Promise<void> {
    const { client } = this.#work;
    await this.#work.acceptMore(BETWEEN);
    let [isOver, longest, accepted, since] = [false, 0, client.accepted.size, performance.now()];
    const watching = (async () => {
      for (; !isOver; await delay(POLL_MS)) {
        const now = performance.now();
        longest = Math.max(longest, now - since);
        if (client.accepted.size > accepted) since = now;
        accepted = client.accepted.size;
      }
    })();
    try {
      await Promise.all([act(), this.#work.bounceSome(BOUNCES)]);
      await this.#work.acceptMore(BETWEEN);
      say(`${what.padEnd(30)} nothing accepted for at most ${Math.round(longest)} ms`);
    } finally {
      isOver = true;
      await watching;
    }
  }

  /** The machine may not have read replies of the receiver that were sent before the cut: one copy more is allowed. */
  async #cutOff(host: Host, seconds: number): Promise<void> {
    const { mx } = this.#installation.parts;
    await host.cutOff();
    const { unread } = await mx.count();
    await delay(seconds * 1000);
    const still = (await mx.count()).unread;
    for (const id of unread) if (still.has(id)) this.#excused.set(id, (this.#excused.get(id) ?? 0) + 1);
    await host.reconnect();
  }
}
