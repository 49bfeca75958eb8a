/**
 * `npm run check-image`: builds the root file system of the image by the steps of the Dockerfile, starts it as the image's user
 * with a read-only root, and delivers a first mail with the PostgreSQL in it. Prints the size. Takes minutes; run it after a change
 * of the Dockerfile, and before a release. Needs root, debootstrap, and a registry for `npm ci`.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
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

async function deliverFirstMail(image: BuiltImage, data: string): Promise<void> {
  const port = String(await freePort());
  const inImage = inRoot(image.root, lastOf(image.stage, "USER").words[0] ?? "", data);
  await using program = await startProgram(
    {
      ...image.env,
      HOST: "127.0.0.1",
      PORT: port,
      INBOX_TOKEN,
      BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}`,
    },
    lastOf(image.stage, "CMD").words,
    ["unshare", ...inImage, ...lastOf(image.stage, "ENTRYPOINT").words],
  );
  await run("unshare", [...inImage, ...lastOf(image.stage, "HEALTHCHECK").words], {
    env: { ...image.env, PORT: port },
  });
  const isWritable = await run("unshare", [...inImage, "touch", "/opt/posthaste/written"]).then(
    () => true,
    () => false,
  );
  if (isWritable) throw new Error("the root is writable");
  const { status } = await program.call("POST", "/emails/send", {
    to: "ada@example.com",
    subject: "From the image",
    body: "Hello",
  });
  if (status !== 201) throw new Error(`the mail was answered ${status}`);
  await eventually("the mail in the inbox", async () =>
    (await (await openInbox(program.url, "/inbox/messages")).text()).includes("From the image"),
  );
  const page = await fetch(`${program.url}/console/`);
  if (!page.ok || !(await page.text()).includes("<title>Posthaste</title>")) throw new Error("no console");
  const [code, signal] = await program.kill("SIGTERM");
  if (code !== 0) throw new Error(`the program ended with ${code ?? signal}`);
}

const folder = await mkdtemp(join(tmpdir(), "posthaste-image-"));
try {
  const image = await buildImage(folder);
  await showSize(image);
  const data = join(folder, "data");
  await mkdir(data, { mode: 0o700 });
  await run("chown", [lastOf(image.stage, "USER").words[0] ?? "", data]);
  await run("chmod", ["755", folder]);
  await deliverFirstMail(image, data);
  // With the data of before.
  await deliverFirstMail(image, data);
  process.stdout.write("The image starts, delivers and stops.\n");
} finally {
  await rm(folder, { recursive: true, force: true });
}
