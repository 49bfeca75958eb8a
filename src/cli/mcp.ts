/**
 * `posthaste mcp`: connects an AI assistant that starts its servers as programs (Model Context Protocol over standard input
 * and output) to a running service. It passes messages on to `POST /mcp` and back, so it needs no database, and the tools
 * are those of the service.
 */
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Command } from "commander";
import { sentence } from "#platform/error-sentence.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import type { Output } from "./command/output.ts";
import { bareProgram, exitCodeOf } from "./command/run-program.ts";
import { LOCAL_SERVICE, readServiceUrl } from "./command/service-address.ts";

/** JSON-RPC: an error of the server. */
const SERVER_ERROR = -32_000;

interface McpOptions {
  readonly url?: URL;
  readonly key?: string;
  readonly tools?: string;
}

type Options = Pick<CliOptions, "stdin" | "stdout" | "stderr" | "environment">;

/** Runs the command line `mcp …` alone, without loading the other commands. @returns the exit code */
export function runMcp(argv: readonly string[], options: Options): Promise<number> {
  const program = bareProgram(options);
  addMcpCommand(program, options);
  return exitCodeOf(() => program.parseAsync(argv, { from: "user" }), options.stderr);
}

export function addMcpCommand(program: Command, { stdin, stdout, stderr, environment }: Options): void {
  program
    .command("mcp")
    .description("connect an AI assistant to a running service: the Model Context Protocol over stdio")
    .option(
      "--url <url>",
      `address of the service; default: POSTHASTE_URL, or ${LOCAL_SERVICE}`,
      readServiceUrl,
    )
    .option("--key <key>", "API key; default: POSTHASTE_KEY, which the list of processes does not show")
    .option("--tools <list>", "all, or resources and operations such as campaigns,getMessage")
    .action(async ({ url, key = environment.POSTHASTE_KEY, tools }: McpOptions) => {
      if (!key) throw new Error("Set POSTHASTE_KEY to an API key, or use --key");
      const address = new URL("/mcp", url ?? readServiceUrl(environment.POSTHASTE_URL || LOCAL_SERVICE));
      if (tools !== undefined) address.searchParams.set("tools", tools);
      await new Bridge(address, key, stderr).run(stdin ?? [], stdout);
    });
}

/** Passes messages between an assistant and a service. */
class Bridge {
  readonly #address: URL;
  readonly #key: string;
  readonly #stderr: Output;
  readonly #underWay = new Set<Promise<void>>();

  constructor(address: URL, key: string, stderr: Output) {
    this.#address = address;
    this.#key = key;
    this.#stderr = stderr;
  }

  /** Ends with the input, when all that was asked is answered. */
  async run(input: AsyncIterable<string | Uint8Array> | Iterable<string>, output: Output): Promise<void> {
    // Loaded on demand: other commands do not need the SDK.
    const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    ]);
    const source = Readable.from(input, { objectMode: false });
    const sink = new Writable({
      write(chunk: Uint8Array, _encoding, done) {
        output.write(chunk);
        done();
      },
    });
    const assistant = new StdioServerTransport(source, sink);
    const service = new StreamableHTTPClientTransport(this.#address, {
      requestInit: { headers: { Authorization: `Bearer ${this.#key}`, "User-Agent": "posthaste mcp" } },
    });
    let initialization: string | number | undefined;
    const answer = (message: JSONRPCMessage): void => {
      if ("result" in message && message.id === initialization) {
        const { protocolVersion } = message.result;
        if (typeof protocolVersion === "string") service.setProtocolVersion(protocolVersion);
      }
      this.#note(assistant.send(message));
    };
    service.onmessage = answer;
    assistant.onmessage = (message) => {
      if ("method" in message && message.method === "initialize" && "id" in message) {
        initialization = message.id;
      }
      this.#note(
        service.send(message).catch((fault: unknown) => {
          const text = reasonOf(fault);
          this.#stderr.write(`error: ${text}\n`);
          if ("id" in message && "method" in message) {
            const { id } = message;
            answer({ jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: text } });
          }
        }),
      );
    };
    assistant.onerror = (fault) => void this.#stderr.write(`error: ${fault.message}\n`);
    const ended = once(source, "end");
    await service.start();
    await assistant.start();
    await ended;
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await service.close();
  }

  #note(work: Promise<void>): void {
    const noted = work.finally(() => this.#underWay.delete(noted));
    this.#underWay.add(noted);
  }
}

/** The sentence of the API within an error of the transport, or why the service was not reached. */
function reasonOf(fault: unknown): string {
  const { cause } = Object(fault) as { cause?: unknown };
  const text = cause instanceof Error ? `The service was not reached: ${sentence(cause)}` : sentence(fault);
  return /"error":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
}
