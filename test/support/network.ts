/**
 * Hosts in network namespaces of Linux, joined by a bridge: several machines on one, for tests of what happens when one is
 * cut off. This process is a host of the network, too. Needs root and iproute2.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Place } from "./database-server.ts";

const run = promisify(execFile);
/** A private network (RFC 1918) that no host of a developer is likely to use. */
const PREFIX = "10.213.77";
const OWN_NUMBER = 1;

export interface Host extends Place {
  readonly name: string;
  /** Takes the host's cable out: packets are lost in both directions, and no connection is told. */
  cutOff(): Promise<void>;
  /** Puts it in again. */
  reconnect(): Promise<void>;
  /** Sends SIGKILL to every process on this host. */
  killProcesses(): Promise<void>;
}

/** Whether this process may make a network. */
export async function mayMakeNetworks(): Promise<boolean> {
  const name = `ph${process.pid}-trial`;
  try {
    await run("ip", ["netns", "add", name]);
    await run("ip", ["netns", "del", name]);
    return true;
  } catch {
    return false;
  }
}

export class Network implements AsyncDisposable {
  /** The address of this process. */
  readonly address = `${PREFIX}.${OWN_NUMBER}`;
  readonly #prefix = `ph${process.pid}`;
  readonly #switch = `${this.#prefix}-switch`;
  readonly #namespaces = new Set<string>();

  static async make(): Promise<Network> {
    const network = new Network();
    const bridge = network.#switch;
    await network.#addNamespace(bridge);
    await run("ip", ["-n", bridge, "link", "add", "bridge", "type", "bridge"]);
    await run("ip", ["-n", bridge, "link", "set", "bridge", "up"]);
    await network.#plugIn("own", ["link", "add", network.#prefix, "type", "veth"]);
    await run("ip", ["address", "add", `${network.address}/24`, "dev", network.#prefix]);
    await run("ip", ["link", "set", network.#prefix, "up"]);
    return network;
  }

  /** @param number the last part of its address, from 2 to 254 */
  async addHost(name: string, number: number): Promise<Host> {
    const namespace = `${this.#prefix}-${name}`;
    const address = `${PREFIX}.${number}`;
    await this.#addNamespace(namespace);
    await this.#plugIn(name, ["-n", namespace, "link", "add", "eth0", "type", "veth"]);
    await run("ip", ["-n", namespace, "address", "add", `${address}/24`, "dev", "eth0"]);
    for (const link of ["lo", "eth0"]) await run("ip", ["-n", namespace, "link", "set", link, "up"]);
    const setCable = async (state: "up" | "down") => {
      await run("ip", ["-n", this.#switch, "link", "set", name, state]);
    };
    return {
      name,
      address,
      enter: ["ip", "netns", "exec", namespace],
      cutOff: () => setCable("down"),
      reconnect: () => setCable("up"),
      killProcesses: async () => {
        const { stdout } = await run("ip", ["netns", "pids", namespace]);
        for (const pid of stdout.split("\n").filter((line) => line !== "")) {
          try {
            process.kill(Number(pid), "SIGKILL");
          } catch {
            // The process has ended already.
          }
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The pairs of links go with the namespace of one end.
    for (const namespace of this.#namespaces) await run("ip", ["netns", "del", namespace]);
  }

  async #addNamespace(namespace: string): Promise<void> {
    await run("ip", ["netns", "add", namespace]);
    this.#namespaces.add(namespace);
  }

  /** @param add begins a command that makes a pair of links; the other end goes into the switch */
  async #plugIn(port: string, add: readonly string[]): Promise<void> {
    await run("ip", [...add, "peer", "name", port, "netns", this.#switch]);
    await run("ip", ["-n", this.#switch, "link", "set", port, "master", "bridge", "up"]);
  }
}
