/**
 * Builds the root file system of the image without a container engine: the Dockerfile's own instructions, run in folders with
 * chroot. Debian's debootstrap makes the base. Needs root, debootstrap, and a registry for `npm ci`.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import ignore from "@balena/dockerignore";
import { type Stage, type Step, stagesOf } from "./dockerfile.ts";
import { inRoot } from "./in-root.ts";

const run = promisify(execFile);
const checkout = join(import.meta.dirname, "../..");
const MOST_OUTPUT = 64 * 1024 ** 2;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface BuiltImage {
  /** The folder of the root file system. */
  readonly root: string;
  /** The last stage. */
  readonly stage: Stage;
  /** What `ENV` sets, and PATH. */
  readonly env: Readonly<Record<string, string>>;
}

/** @param folder an empty folder, in which the stages are built */
export async function buildImage(folder: string): Promise<BuiltImage> {
  const stages = stagesOf(await readFile(join(checkout, "Dockerfile"), "utf8"));
  const roots = new Map<string | undefined, string>();
  let built: BuiltImage | undefined;
  for (const [at, stage] of stages.entries()) {
    const root = join(folder, stage.name ?? `stage-${at}`);
    await makeBase(stage.base, root);
    roots.set(stage.name, root);
    built = { root, stage, env: await takeSteps(stage, root, roots) };
  }
  if (built === undefined) throw new Error("the Dockerfile has no stage");
  return built;
}

/** What Docker sends to the build: the files that Git knows or would add, without those in .dockerignore. */
export async function contextOfBuild(): Promise<string[]> {
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: checkout,
    maxBuffer: MOST_OUTPUT,
  });
  const filter = ignore.default().add(await readFile(join(checkout, ".dockerignore"), "utf8"));
  return filter.filter(stdout.split("\0").filter((path) => path !== ""));
}

/** `debian:SUITE-slim`, or `node:VERSION-SUITE-slim`, which is the same with Node.js and npm. */
async function makeBase(image: string, root: string): Promise<void> {
  const suite = /([a-z]+)-slim/.exec(image)?.[1];
  if (suite === undefined) throw new Error(`no base for ${image}`);
  await run("debootstrap", ["--variant=minbase", suite, root], { maxBuffer: MOST_OUTPUT });
  if (!image.startsWith("node:")) return;
  const { stdout } = await run("npm", ["root", "--global"]);
  const modules = join(root, "usr/local/lib/node_modules");
  await mkdir(modules, { recursive: true });
  await cp(join(stdout.trim(), "npm"), join(modules, "npm"), { recursive: true, verbatimSymlinks: true });
  await run("ln", ["-s", "../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm")]);
  await run("cp", [process.execPath, join(root, "usr/local/bin/node")]);
}

async function takeSteps(
  stage: Stage,
  root: string,
  roots: ReadonlyMap<string | undefined, string>,
): Promise<Record<string, string>> {
  const env: Record<string, string> = { PATH };
  const network = await networkOfThisMachine(root);
  let folder = "/";
  let user = "0:0";
  for (const step of stage.steps) {
    const [first = ""] = step.words;
    if (step.keyword === "WORKDIR") {
      folder = resolve(folder, first);
      await mkdir(join(root, folder), { recursive: true });
    } else if (step.keyword === "USER") {
      user = first;
    } else if (step.keyword === "ENV") {
      for (const word of step.words) env[word.replace(/=.*/s, "")] = word.replace(/^[^=]*=/, "");
    } else if (step.keyword === "COPY") {
      await copy(step, join(root, folder), root, roots.get(step.from));
    } else if (step.keyword === "RUN") {
      const command = `cd "$1" && ${step.text}`;
      await run("unshare", [...inRoot(root, user), "/bin/sh", "-c", command, "sh", folder], {
        env: { HOME: "/root", ...network, ...env },
        maxBuffer: MOST_OUTPUT,
      });
    }
  }
  return env;
}

async function copy({ words, from }: Step, folder: string, root: string, source?: string): Promise<void> {
  const target = words.at(-1) ?? "";
  const to = target.startsWith("/") ? join(root, target) : join(folder, target);
  const isFolder = target.endsWith("/") || words.length > 2;
  for (const word of words.slice(0, -1)) {
    if (from === undefined) await copyContext(word, to, isFolder);
    else await run("cp", ["-a", ...(await contentOf(join(source ?? "", word))), await made(to)]);
  }
}

/** Docker copies the content of a folder, not the folder. */
async function contentOf(path: string): Promise<string[]> {
  return (await stat(path)).isDirectory() ? ["-T", path] : [path];
}

async function made(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  return path;
}

async function copyContext(word: string, to: string, isFolder: boolean): Promise<void> {
  const files = await contextOfBuild();
  if (files.includes(word)) {
    const target = isFolder ? join(to, word.replace(/.*\//, "")) : to;
    return cp(join(checkout, word), await made(target));
  }
  const below = files.filter((path) => word === "." || path.startsWith(`${word}/`));
  if (below.length === 0) throw new Error(`COPY ${word}: the context has no such file`);
  for (const path of below) {
    const inside = word === "." ? path : path.slice(word.length + 1);
    await cp(join(checkout, path), await made(join(to, inside)));
  }
}

/** How programs in the root reach what this machine reaches: its resolver, npm's registry, its certificates. */
async function networkOfThisMachine(root: string): Promise<Record<string, string>> {
  await writeFile(join(root, "etc/resolv.conf"), await readFile("/etc/resolv.conf"));
  const { stdout } = await run("npm", ["config", "get", "registry"]);
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates === undefined) return { npm_config_registry: stdout.trim() };
  await cp(certificates, await made(join(root, "certificates.pem")), { dereference: true });
  return { npm_config_registry: stdout.trim(), NODE_EXTRA_CA_CERTS: "/certificates.pem" };
}
