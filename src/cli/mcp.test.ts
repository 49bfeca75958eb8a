import { expect, test } from "vitest";
import { freePort } from "#test/support/free-port.ts";
import { startService } from "#test/support/service.ts";
import { runCli } from "./program.ts";

const service = await startService();

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Runs the command with these lines on its standard input. */
async function run(lines: readonly unknown[], words: readonly string[], environment = {}) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write(text: string | Uint8Array) {
      written[name] += typeof text === "string" ? text : Buffer.from(text).toString();
    },
  });
  async function* stdin() {
    for (const line of lines) yield `${JSON.stringify(line)}\n`;
  }
  const code = await runCli(["mcp", ...words], {
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdin: stdin(),
    environment,
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  const answers = written.stdout.split("\n").filter((line) => line !== "");
  return { code, stderr: written.stderr, answers: answers.map((line) => JSON.parse(line)) };
}

test("what was asked is answered before the command ends with its input; standard output has nothing else", async () => {
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const { code, answers, stderr } = await run(
    [initialize, ping],
    ["--url", service.url, "--key", service.key],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(answers.toSorted((one, other) => one.id - other.id)).toMatchObject([
    { id: 1, result: { protocolVersion: "2025-06-18", serverInfo: { name: "posthaste" } } },
    { id: 2, result: {} },
  ]);
});

test("without a key, or with an address that is none, the command fails at once", async () => {
  const without = await run([], ["--url", service.url]);
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("POSTHASTE_KEY") });
  const wrong = await run([], ["--url", "ftp://x", "--key", service.key]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("The address of a service") });
});

test("a service that does not run is a sentence, as the answer and on standard error", async () => {
  const { answers, stderr } = await run(
    [initialize],
    ["--url", `http://127.0.0.1:${await freePort()}`, "--key", service.key],
  );
  expect(answers).toMatchObject([{ id: 1, error: { message: expect.stringContaining("not reached") } }]);
  expect(stderr).toContain("ECONNREFUSED");
});
