/**
 * Examples in README.md and docs/ are correct: API calls exist and have valid bodies, and commands exist and have the
 * options that they need.
 */
import { readdir, readFile } from "node:fs/promises";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "#cli/program.ts";
import { BODY_LIMIT } from "#platform/http/endpoint.ts";
import { bodyReader } from "#platform/http/request/validate.ts";
import { newId } from "#platform/ids.ts";
import { endpointsForDocs } from "#processes/api.ts";

const root = new URL("../", import.meta.url);
/** The URL of the service as README.md starts it; every example must use it. */
const api = "http://127.0.0.1:8080/api/v1";
const endpoints = endpointsForDocs();

interface Call {
  readonly page: string;
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

/** Splits a script into commands and words as a shell does; variables become an id. */
function commandsOf(script: string): string[][] {
  const commands: string[][] = [[]];
  const id = newId();
  const word = /((?:'[^']*'|"(?:\\.|[^"\\])*"|\\\n|\\.|[^\s'"\\|])+)|(\n|\|)/g;
  const plain = script.replaceAll(/(^|\s)#.*/g, "$1").replaceAll(/^ *[A-Z]+=\$\(/gm, "");
  for (const [, text, end] of plain.matchAll(word)) {
    if (end !== undefined) commands.push([]);
    else if (text !== undefined && text !== "\\\n")
      commands.at(-1)?.push(unquoted(text).replaceAll(/\$\w+/g, id));
  }
  return commands;
}

function unquoted(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\\n/g,
    (_whole, plain?: string, quoted?: string) => plain ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? "",
  );
}

function callsOf(page: string, text: string): Call[] {
  const scripts = Array.from(text.matchAll(/^ *```sh\n(.*?)^ *```/gms), ([, script = ""]) => script);
  return scripts.flatMap(commandsOf).flatMap((words) => {
    const url = words.find((one) => one.includes("/api/v1/"));
    if (words[0] !== "curl" || url === undefined) return [];
    const behind = (option: string) =>
      words.includes(option) ? words[words.indexOf(option) + 1] : undefined;
    const body = behind("-d");
    const method = behind("-X") ?? (body !== undefined || words.includes("-F") ? "POST" : "GET");
    return [{ page, method, url, body }];
  });
}

const pages = ["README.md", ...(await readdir(new URL("docs", root))).map((name) => `docs/${name}`)];
const calls: Call[] = [];
const commands: { readonly page: string; readonly line: string }[] = [];
const commandNames = new Set(programFor().commands.map((command) => command.name()));
/** Commands that fail in a shell, because `posthaste` is not on its path. */
const bare: string[] = [];
for (const page of pages.filter((name) => name.endsWith(".md"))) {
  const text = await readFile(new URL(page, root), "utf8");
  calls.push(...callsOf(page, text));
  const typed = text.replaceAll(/\\\n\s*/g, " ").matchAll(/npm (?:run -s posthaste|start) -- [^\n`|)]+/g);
  for (const [line] of typed) commands.push({ page, line: line.replace(/\s+#.*/, "").trim() });
  for (const [whole, name = ""] of text.matchAll(/(?<![\w-] |[-/\w])posthaste ([a-z-]+)/g)) {
    if (commandNames.has(name)) bare.push(`${page}: ${whole}`);
  }
}

/** The commands of the program, without their actions. */
function programFor(): Command {
  const output = { write: () => true };
  const program = createProgram({
    stdout: output,
    stderr: output,
    environment: {},
    endpoints: () => endpoints,
    serve: async () => {},
  });
  const disarm = (command: Command) => {
    command.exitOverride();
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(disarm);
  };
  disarm(program);
  return program;
}

test("the pages have more than 40 examples", () => {
  expect(calls.length).toBeGreaterThan(40);
});

describe("an example", () => {
  test.each(calls)("of $page: $method $url", ({ method, url, body }) => {
    expect(url.startsWith(`${api}/`)).toBe(true);
    const path = url.slice(api.length).replace(/\?.*/, "");
    const found = endpoints.find(
      (one) =>
        one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
    );
    expect(found?.method).toBe(method);
    if (body !== undefined && found?.body !== undefined) bodyReader(found.body)(JSON.parse(body));
  });
});

test("the pages have more than 30 commands", () => {
  expect(commands.length).toBeGreaterThan(30);
});

describe("a command", () => {
  test.each(commands)("of $page: $line", async ({ line }) => {
    const words = line
      .replace(/^npm run -s posthaste -- /, "")
      .replace(/^npm start --/, "serve")
      .replaceAll(/\bID\b|\$[A-Z]+/g, newId());
    const argv = Array.from(words.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? "");
    await programFor()
      .parseAsync(argv, { from: "user" })
      .catch((fault: { code?: string }) => {
        if (!["commander.helpDisplayed", "commander.version"].includes(fault.code ?? "")) throw fault;
      });
  });

  test("never calls posthaste without npm", () => {
    expect(bare).toEqual([]);
  });
});

describe("docs/api.md lists the body limit", () => {
  const large = endpoints.filter(({ bodyLimit = BODY_LIMIT }) => bodyLimit > BODY_LIMIT);
  test.each(large)("of $method $path", async ({ method, path, bodyLimit = 0 }) => {
    const rows = (await readFile(new URL("docs/api.md", root), "utf8")).split("\n");
    const row = rows.find((one) => one.startsWith("|") && one.includes(`\`${method} ${path}\``));
    expect(row).toContain(` ${bodyLimit / 1024 ** 2} MB |`);
  });
});
