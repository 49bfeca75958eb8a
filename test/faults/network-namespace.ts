/**
 * A network of its own on this machine, with one address that is reached over a virtual cable. Cutting the cable loses
 * packets without a word, as a broken switch does. Linux, as root.
 */
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import type { Place } from "#test/support/database-pair.ts";
import { eventually } from "#test/support/eventually.ts";

const run = promisify(execFile);
/** From 10.0.0.0/8, a network of two addresses (RFC 3021) for each process that uses one. */
const network = `10.213.${process.pid % 256}`;

export class NetworkNamespace implements AsyncDisposable {
  readonly place: Place;
  readonly #pid: number;
  readonly #near: string;
  readonly #far: string;

  private constructor(pid: number) {
    this.#pid = pid;
    this.#near = `ph${pid}`;
    this.#far = `ph${pid}far`;
    this.place = { address: `${network}.1`, enter: ["nsenter", "--target", String(pid), "--net"] };
  }

  /** @throws Error where namespaces or virtual cables are not allowed */
  static async open(): Promise<NetworkNamespace> {
    const holder = spawn("unshare", ["--net", "sleep", "infinity"], { stdio: "ignore" });
    const pid = holder.pid ?? 0;
    process.once("exit", () => holder.kill("SIGKILL"));
    const namespace = new NetworkNamespace(pid);
    try {
      await eventually(
        "a network namespace",
        () => namespace.#inside("true").then(() => isOwnNetwork(pid)),
        5_000,
      );
      await namespace.#lay();
      return namespace;
    } catch (fault) {
      await namespace[Symbol.asyncDispose]();
      throw fault;
    }
  }

  async cut(): Promise<void> {
    await this.#inside("ip", "link", "set", this.#far, "down");
  }

  async mend(): Promise<void> {
    await this.#inside("ip", "link", "set", this.#far, "up");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.kill(this.#pid, "SIGKILL");
    await run("ip", ["link", "delete", this.#near]).catch(() => {});
  }

  async #lay(): Promise<void> {
    await run("ip", ["link", "add", this.#near, "type", "veth", "peer", "name", this.#far]);
    await run("ip", ["link", "set", this.#far, "netns", String(this.#pid)]);
    await run("ip", ["address", "add", `${network}.0/31`, "dev", this.#near]);
    await run("ip", ["link", "set", this.#near, "up"]);
    await this.#inside("ip", "address", "add", `${network}.1/31`, "dev", this.#far);
    await this.#inside("ip", "link", "set", "lo", "up");
    await this.mend();
  }

  async #inside(...words: string[]): Promise<void> {
    const [file = "", ...rest] = [...this.place.enter, ...words];
    await run(file, rest);
  }
}

/** False until `unshare` has entered it. */
async function isOwnNetwork(pid: number): Promise<boolean> {
  const { stdout } = await run("readlink", [`/proc/${pid}/ns/net`, "/proc/self/ns/net"]);
  return new Set(stdout.trim().split("\n")).size === 2;
}
