/** Real HAProxy and nginx in front of the program, with the configurations of `deploy` on other ports. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.ts";
import { isListening } from "./free-port.ts";

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const isHaproxyInstalled = canRun("haproxy");
export const isNginxInstalled = canRun("nginx");

/** What replaces the addresses and files of a configuration. */
type Replacements = ReadonlyMap<string, string>;

/** @param ports where it listens, which the replacements name */
export async function startHaproxy(
  ports: readonly number[],
  replace: Replacements,
): Promise<AsyncDisposable> {
  const pem = await Promise.all(["certificate", "key"].map((name) => readFile(testPem(name), "utf8")));
  return startProxy("haproxy", ports, async (folder) => {
    const certificate = join(folder, "certificate.pem");
    await writeFile(certificate, pem.join(""));
    const file = join(folder, "haproxy.cfg");
    const text = await configuration("deploy/haproxy/haproxy.cfg", replace);
    await writeFile(file, text.replace("/etc/haproxy/certs/", certificate));
    return ["-db", "-f", file];
  });
}

export async function startNginx(ports: readonly number[], replace: Replacements): Promise<AsyncDisposable> {
  return startProxy("nginx", ports, async (folder) => {
    const site = (await configuration("deploy/nginx/posthaste.conf", replace))
      .replace(/ssl_certificate .*;/, `ssl_certificate ${testPem("certificate")};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${testPem("key")};`)
      .replaceAll(/listen \[::\].*;/g, "");
    const file = join(folder, "nginx.conf");
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    await writeFile(
      file,
      `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths.join(" ")}\n${site}}`,
    );
    return ["-c", file, "-p", folder];
  });
}

async function startProxy(
  program: string,
  ports: readonly number[],
  prepare: (folder: string) => Promise<readonly string[]>,
): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), `posthaste-${program}-`));
  const child = spawn(program, await prepare(folder), { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const port of ports)
      await eventually(`${program} to listen`, async () => {
        if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
        return isListening(port);
      });
  } catch (fault) {
    if (child.exitCode === null) await stop();
    throw fault;
  }
  return { [Symbol.asyncDispose]: stop };
}

/** @throws if the configuration lacks a text that is to be replaced */
async function configuration(path: string, replace: Replacements): Promise<string> {
  let text = await readFile(fromRoot(path), "utf8");
  for (const [from, to] of replace) {
    if (!text.includes(from)) throw new Error(`${path} has no "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

function testPem(name: string): string {
  return fromRoot(`test/support/fake-mx-${name}.pem`);
}

function canRun(program: string): boolean {
  try {
    execFileSync(program, ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
