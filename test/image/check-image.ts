/**
 * `npm run check-image`: builds the root file system of the image by the steps of the Dockerfile, starts it as the image's user
 * with a read-only root, and delivers a first mail with the PostgreSQL in it. Prints the size. Then npm installs the package that
 * the image is made of, and that delivers a mail, too. Takes minutes; run it after a change of the Dockerfile, and before a
 * release. Needs root, debootstrap, and a registry for `npm ci`.
 */
import { execFile } from "node:child_process";
import { glob, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "#test/support/eventually.ts";
import { freePort } from "#test/support/free-port.ts";
import { INBOX_TOKEN, openInbox } from "#test/support/inbox.ts";
import { startProgram } from "#test/support/program.ts";
import { type BuiltImage, buildImage } from "./build-root.ts";
import { lastOf } from "./dockerfile.ts";
import { inRoot } from "./in-root.ts";

const MOST_COMPRESSED_MB = 250;
const run = promisify(execFile);

async function megabytes(command: string, root: string): Promise<number> {
  const { stdout } = await run("sh", ["-c", command, "sh", root]);
  return Math.round(Number(stdout) / 1e6);
}

async function showSize({ root }: BuiltImage): Promise<void> {
  const ours = 'cd "$1" && tar c opt/posthaste usr/local/bin/node';
  const base =
    'cd "$1" && tar c --one-file-system --exclude=./opt --exclude=./usr/local --exclude=./var/cache --exclude=./var/lib/apt/lists .';
  const unpacked = [await megabytes(`${base} | wc -c`, root), await megabytes(`${ours} | wc -c`, root)];
  const packed = [
    await megabytes(`${base} | gzip | wc -c`, root),
    await megabytes(`${ours} | gzip | wc -c`, root),
  ];
  const line = (name: string, [debian = 0, own = 0]: number[]) =>
    `${name}: ${debian + own} MB (Debian ${debian}, Node.js and Posthaste ${own})\n`;
  process.stdout.write(line("compressed", packed) + line("unpacked", unpacked));
  const total = (packed[0] ?? 0) + (packed[1] ?? 0);
  if (total > MOST_COMPRESSED_MB) throw new Error(`more than ${MOST_COMPRESSED_MB} MB compressed`);
}

/**
 * Starts the service, sends a mail, and stops the service.
 * @param command what is run with `serve`
 * @param check looks at the service while it runs
 */
async function deliverFirstMail(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  check = async () => {},
): Promise<void> {
  const settings = { ...env, HOST: "127.0.0.1", INBOX_TOKEN, BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}` };
  await using program = await startProgram(settings, ["serve"], command);
  await check();
  const mail = { to: "ada@example.com", subject: `Mail of ${crypto.randomUUID()}`, body: "Hello" };
  const { status } = await program.call("POST", "/emails/send", mail);
  if (status !== 201) throw new Error(`the mail was answered ${status}`);
  await eventually("the mail in the inbox", async () =>
    (await (await openInbox(program.url, "/inbox/messages")).text()).includes(mail.subject),
  );
  const page = await fetch(`${program.url}/console/`);
  if (!page.ok || !(await page.text()).includes("<title>Posthaste</title>")) throw new Error("no console");
  const [code, signal] = await program.kill("SIGTERM");
  if (code !== 0) throw new Error(`the program ended with ${code ?? signal}`);
}

/** A folder that the user owns. */
async function ownFolder(name: string, user: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { mode: 0o700 });
  await run("chown", [user, path]);
  return path;
}

async function startImage({ root, stage, env }: BuiltImage): Promise<void> {
  const [user = ""] = lastOf(stage, "USER").words;
  const inImage = inRoot(root, user, await ownFolder("data", user));
  const PORT = String(await freePort());
  const look = async () => {
    await run("unshare", [...inImage, ...lastOf(stage, "HEALTHCHECK").words], { env: { ...env, PORT } });
    const isWritable = await run("unshare", [...inImage, "touch", "/opt/posthaste/written"]).then(
      () => true,
      () => false,
    );
    if (isWritable) throw new Error("the root is writable");
  };
  const command = ["unshare", ...inImage, ...lastOf(stage, "ENTRYPOINT").words];
  await deliverFirstMail(command, { ...env, PORT }, look);
  // With the data of before.
  await deliverFirstMail(command, { ...env, PORT });
}

/** Installs the package that the image was made of with npm, and starts it as `nobody`, who did not install it. */
async function startPackage(): Promise<void> {
  const installed = join(folder, "installed");
  await mkdir(installed);
  const [file = ""] = await Array.fromAsync(glob(join(folder, "build/build/posthaste-*.tgz")));
  await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", file], { cwd: installed });
  const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const DATA_DIR = await ownFolder("data-of-package", "65534:65534");
  await deliverFirstMail([...asNobody, join(installed, "node_modules/.bin/posthaste")], { DATA_DIR });
}

const folder = await mkdtemp(join(tmpdir(), "posthaste-image-"));
try {
  const image = await buildImage(folder);
  await showSize(image);
  await run("chmod", ["755", folder]);
  await startImage(image);
  process.stdout.write("The image starts, delivers and stops.\n");
  await startPackage();
  process.stdout.write("The package is installed by npm, starts, delivers and stops.\n");
} finally {
  await rm(folder, { recursive: true, force: true });
}
