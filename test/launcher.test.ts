import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, utimesSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launcherOf } from "#test/support/release.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const parent = fileURLToPath(new URL("../src/platform/process/exit-with-parent.ts", import.meta.url));

/** The first Node.js on the path that is older than the pinned one and that the launcher supports. */
function olderNode(): string | undefined {
  const programs = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return programs.find((program) => {
    try {
      accessSync(program, constants.X_OK);
      const major = Number.parseInt(execFileSync(program, ["--version"], { encoding: "utf8" }).slice(1), 10);
      return major >= 18 && major < 24;
    } catch {
      return false;
    }
  });
}

/** A program that prints its arguments and environment, and ends on request. */
const program = `
import { endWithParent } from ${JSON.stringify(parent)};
const [how]: string[] = process.argv.slice(2);
if (how === "graceful") process.on("SIGTERM", () => process.exit(7));
endWithParent();
console.log(JSON.stringify({
  pid: process.pid,
  version: process.version,
  arguments: process.argv.slice(2),
  threads: Number(process.env.UV_THREADPOOL_SIZE),
  options: process.env.NODE_OPTIONS,
  cache: process.env.NODE_COMPILE_CACHE,
  path: process.env.PATH,
}));
if (how === "exit") process.exit(3);
if (how !== "end") setInterval(() => {}, 1_000);
`;

interface Report {
  pid: number;
  version: string;
  arguments: string[];
  threads: number;
  options: string;
  cache: string;
  path: string;
}

let folder: string;
let script: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "launcher-"));
  script = join(folder, "program.ts");
  await writeFile(script, program);
});

afterAll(() => rm(folder, { recursive: true }));

const launchers: [string, string | undefined][] = [
  ["the pinned Node.js", process.execPath],
  ["an older Node.js", olderNode()],
];

describe.each(launchers)("on %s", (_name, node) => {
  async function launch(...words: string[]): Promise<{ child: ChildProcess; report: Report }> {
    const child = spawn(node ?? "", [launcherOf(), "--script", script, ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    return { child, report: JSON.parse(line.toString()) as Report };
  }

  const testHere = test.skipIf(node === undefined);

  testHere(
    "the program runs on the pinned Node.js with the launcher's arguments and environment",
    async () => {
      const { child, report } = await launch("end", "--flag", "two words");
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(report.version).toMatch(/^v24\./);
      expect(report.arguments).toEqual(["end", "--flag", "two words"]);
      expect(report.threads).toBeGreaterThanOrEqual(4);
      expect(report.options).toMatch(/^--max-semi-space-size=\d+( |$)/);
      expect(report.cache).not.toBe("");
      const [first = ""] = report.path.split(delimiter);
      expect(execFileSync(join(first, "node"), ["--version"], { encoding: "utf8" })).toMatch(/^v24\./);
    },
  );

  testHere("the launcher exits with the program's exit code", async () => {
    const { child } = await launch("exit");
    expect(await once(child, "exit")).toEqual([3, null]);
  });

  testHere("a signal is forwarded to the program, which ends in its own way", async () => {
    const { child } = await launch("graceful");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([7, null]);
  });

  testHere.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "a program ended by %s ends the launcher with the same signal",
    async (signal) => {
      const { child } = await launch("wait");
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([null, signal]);
    },
  );

  testHere("the program does not outlive a killed launcher", async () => {
    const { child } = await launch("graceful");
    const gone = once(child, "close"); // emitted when the program, too, has closed standard output
    child.kill("SIGKILL");
    await gone;
  });
});

test("with --watch the program runs again when a file of src changes", async () => {
  const child = spawn(process.execPath, [launcherOf(), "--watch", "--help"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let output = "";
    const runs = () => output.split("Usage: posthaste").length - 1;
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    await expect.poll(runs, { timeout: 60_000 }).toBe(1);
    // Seldom enough that a start on a busy machine ends before the next change begins it anew.
    let changedAt = 0;
    await expect
      .poll(
        () => {
          const now = Date.now();
          if (now - changedAt > 15_000) {
            changedAt = now;
            utimesSync(main, now / 1_000, now / 1_000);
          }
          return runs();
        },
        { timeout: 80_000, interval: 200 },
      )
      .toBeGreaterThan(1);
  } finally {
    child.kill();
    await once(child, "exit");
  }
}, 150_000);
