/**
 * `npm run release` in a copy of this checkout, and its package as an operator gets it: in a folder of its own, started by another
 * user.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { INBOX_TOKEN, openInbox } from "#test/support/inbox.ts";
import { startProgram } from "#test/support/program.ts";
import { problemsOf } from "../../packaging/release/checks.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const isRoot = process.geteuid?.() === 0;
/** The user `nobody`: initdb asks for the name of its user. */
const STRANGER = 65_534;
const NOTES = "**Operators must**: nothing.\n\n### Added\n\n- A release.";
const MOST_MS = 400_000;

const { version, dependencies, optionalDependencies, devDependencies } = JSON.parse(
  await readFile(join(root, "package.json"), "utf8"),
);
const locked = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
const folder = await mkdtemp(join(tmpdir(), "posthaste-release-"));
const copy = join(folder, "checkout");
const files = join(copy, "release");
const keyFile = join(folder, "key");
const git = (...words: string[]) =>
  run("git", ["-c", "user.name=T", "-c", "user.email=t@t.test", ...words], { cwd: copy });
let output = "";

/** The files that Git knows or would add, with a commit of their own, and the installed dependencies. */
async function copyCheckout(): Promise<void> {
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    maxBuffer: 64 * 1024 ** 2,
  });
  const paths = stdout.split("\0").filter((path) => path !== "");
  await Promise.all(
    [...new Set(paths.map(dirname))].map((path) => mkdir(join(copy, path), { recursive: true })),
  );
  await Promise.all(paths.map((path) => cp(join(root, path), join(copy, path)).catch(() => {})));
  await cp(join(root, "console/dist"), join(copy, "console/dist"), { recursive: true }).catch(() => {});
  const changelog = await readFile(join(copy, "CHANGELOG.md"), "utf8");
  const section = `## [${version}] - 2026-01-31\n\n${NOTES}\n\n`;
  await writeFile(join(copy, "CHANGELOG.md"), changelog.replace(/^(?=## )/m, section));
  await git("init", "--quiet");
  await git("add", "--all");
  await git("commit", "--quiet", "--no-verify", "--message", "everything");
  await linkDependencies();
}

/** npm packs what is in `node_modules` itself, so those of the package are hard links there; all others are symbolic links. */
async function linkDependencies(): Promise<void> {
  const present = Object.keys(locked).filter(
    (path) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && existsSync(join(root, path)),
  );
  const packed = present.filter(
    (path) => !locked[path].dev && !(path.slice("node_modules/".length) in optionalDependencies),
  );
  await run("cp", ["-al", "--parents", ...packed, copy], { cwd: root });
  const others = ["node_modules/.bin", ...present.filter((path) => !packed.includes(path))];
  for (const path of others) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await symlink(join(root, path), join(copy, path));
  }
}

beforeAll(async () => {
  await chmod(folder, 0o755);
  await copyCheckout();
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", keyFile]);
  const env = { ...process.env, RELEASE_SIGNING_KEY_FILE: keyFile };
  const words = ["run", "-s", "release", "--", "--dry-run", "--version", version];
  output = (await run("npm", words, { cwd: copy, env })).stdout;
}, MOST_MS);

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

describe("a release", () => {
  test("has the package, the client, the sources, the bill of materials and the notes", async () => {
    expect((await readdir(files)).sort()).toEqual([
      "SHA256SUMS",
      "SHA256SUMS.sig",
      `posthaste-${version}-source.tar.gz`,
      `posthaste-${version}.cdx.json`,
      `posthaste-${version}.tgz`,
      `posthaste-client-${version}.tgz`,
      "release-notes.md",
    ]);
    expect(await readFile(join(files, "release-notes.md"), "utf8")).toBe(`${NOTES}\n`);
  });

  test("can be verified with sha256sum and the public key that it prints", async () => {
    const { stdout } = await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: files });
    expect(stdout.match(/: OK/g)).toHaveLength(5);
    const signers = join(folder, "allowed_signers");
    await writeFile(
      signers,
      output.split("\n").find((line) => line.startsWith("posthaste namespaces=")) ?? "",
    );
    const verify = (file: string) =>
      run(
        "sh",
        [
          "-c",
          `ssh-keygen -Y verify -f "$1" -I posthaste -n posthaste-release -s SHA256SUMS.sig < "$2"`,
          "sh",
          signers,
          file,
        ],
        { cwd: files },
      );
    expect((await verify("SHA256SUMS")).stdout).toMatch(/^Good "posthaste-release" signature for posthaste/);
    const altered = join(folder, "altered");
    await writeFile(altered, (await readFile(join(files, "SHA256SUMS"), "utf8")).replace(/^./, "x"));
    await expect(verify(altered)).rejects.toThrow(/incorrect signature|Could not verify/i);
    // The tag, as docs/install.md verifies it.
    const repository = join(folder, "tagged");
    const git = (...words: string[]) => run("git", ["-C", repository, ...words]);
    await run("git", ["init", "-q", repository]);
    const person = ["-c", "user.name=R", "-c", "user.email=r@example.org"];
    await git(...person, "commit", "-q", "--allow-empty", "-m", "R");
    const signed = [
      "-c",
      "gpg.format=ssh",
      "-c",
      `user.signingkey=${keyFile}`,
      "tag",
      "--sign",
      "-m",
      "R",
      "v1",
    ];
    await git(...person, ...signed);
    await git("-c", `gpg.ssh.allowedSignersFile=${signers}`, "verify-tag", "v1");
  });

  test("has a bill of materials with all dependencies and no development dependency", async () => {
    const bill = JSON.parse(await readFile(join(files, `posthaste-${version}.cdx.json`), "utf8"));
    expect([bill.bomFormat, bill.metadata.component.purl]).toEqual([
      "CycloneDX",
      `pkg:npm/posthaste@${version}`,
    ]);
    const parts = new Set(bill.components.map((part: { purl: string }) => decodeURIComponent(part.purl)));
    for (const [name, exact] of Object.entries<string>({ ...dependencies, ...optionalDependencies })) {
      expect(parts).toContain(`pkg:npm/${name}@${exact}`);
    }
    expect(parts).not.toContain(`pkg:npm/vitest@${devDependencies.vitest}`);
  });

  test("leaves the checkout as it was, and a dry run makes no tag", async () => {
    expect((await git("status", "--porcelain")).stdout).toBe("");
    expect((await git("tag")).stdout).toBe("");
  });
});

describe("the package", () => {
  const installed = join(folder, "installed");
  const home = join(installed, "node_modules/posthaste");

  beforeAll(async () => {
    // As npm does it, which takes a minute for so many files: npm run check-image has npm do it.
    await mkdir(home, { recursive: true });
    await run("tar", ["xzf", join(files, `posthaste-${version}.tgz`), "-C", home, "--strip-components=1"]);
    await chmod(join(home, "bin/posthaste.js"), 0o755);
    const forThisSystem = Object.keys(optionalDependencies).filter((name) =>
      existsSync(join(root, "node_modules", name)),
    );
    await run("cp", ["-al", "--parents", ...forThisSystem, join(installed, "node_modules")], {
      cwd: join(root, "node_modules"),
    });
    await mkdir(join(installed, "node_modules/.bin"));
    await symlink("../posthaste/bin/posthaste.js", join(installed, "node_modules/.bin/posthaste"));
  }, MOST_MS);

  test("has the program, its dependencies in the tested versions, and no sources, tests or settings", async () => {
    const { stdout } = await run("find", [home, "-name", "package.json", "-path", "*/node_modules/*"]);
    const versions: string[] = [];
    for (const path of Object.keys(locked).filter((name) => name.startsWith("node_modules/"))) {
      const manifest = join(home, path, "package.json");
      if (!stdout.includes(`${manifest}\n`)) continue;
      const found = JSON.parse(await readFile(manifest, "utf8")).version;
      if (found !== locked[path].version) versions.push(`${path}: ${found}, not ${locked[path].version}`);
    }
    expect(versions).toEqual([]);
    for (const name of Object.keys(dependencies)) await readdir(join(home, "node_modules", name));
    expect((await readdir(home)).sort()).toEqual([
      ".env.example",
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin",
      "console",
      "db",
      "deploy",
      "docs",
      "lib",
      "node_modules",
      "openapi.json",
      "package.json",
    ]);
  });

  test("starts for another user, who cannot write there, and delivers a first mail to the inbox", async () => {
    const data = join(folder, "data");
    await mkdir(data, { mode: 0o700 });
    if (isRoot) await run("chown", [`${STRANGER}:${STRANGER}`, data]);
    const asStranger = ["setpriv", `--reuid=${STRANGER}`, `--regid=${STRANGER}`, "--clear-groups"];
    const command = [...(isRoot ? asStranger : []), join(installed, "node_modules/.bin/posthaste")];
    const settings = {
      DATA_DIR: data,
      HOME: data,
      INBOX_TOKEN,
      BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}`,
    };
    await using program = await startProgram(settings, ["serve"], command);
    const mail = { to: "ada@example.com", subject: "From the package", body: "<p>Hello</p>" };
    expect((await program.call("POST", "/emails/send", mail)).status).toBe(201);
    await eventually("the mail in the inbox", async () =>
      (await (await openInbox(program.url, "/inbox/messages")).text()).includes(mail.subject),
    );
    const mjml =
      "<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>";
    const rendered = await program.call("POST", "/render", { mjml });
    expect([rendered.status, JSON.stringify(rendered.body)]).toEqual([
      200,
      expect.stringContaining("<table"),
    ]);
    const page = await (await fetch(`${program.url}/console/`)).text();
    expect(page).toContain("<title>Posthaste</title>");
    expect((await fetch(`${program.url}/docs`)).status).toBe(200);
    expect(await program.kill("SIGTERM")).toEqual([0, null]);
  });
});

test(
  "what is not ready is not released: each reason has its sentence",
  async () => {
    const change = async (path: string, from: string | RegExp, to: string) => {
      const text = await readFile(join(copy, path), "utf8");
      await writeFile(join(copy, path), text.replace(from, to));
    };
    await git("tag", `v${version}`);
    await change("CHANGELOG.md", "**Operators must**: nothing.", "Nothing.");
    await change("console/package.json", `"version": "${version}"`, '"version": "9.9.9"');
    await change("docs/configuration.md", "HOST", "HOOST");
    await git("commit", "--quiet", "--no-verify", "--all", "--message", "worse");
    await writeFile(join(copy, "db/released-migrations.json"), "{}");
    const problems = await problemsOf(copy, version);
    expect(problems.map((problem) => problem.replace(/\n.*/s, "").slice(0, 60))).toEqual([
      "The working tree has changes: commit or remove them.",
      `console/package.json has version 9.9.9, not ${version}.`,
      expect.stringContaining(`CHANGELOG.md says for ${version} not what`),
      "Generated files are stale:",
      expect.stringContaining("db/released-migrations.json does not have "),
      `The tag v${version} exists and is another commit.`,
    ]);
    expect(await problemsOf(copy, "9.9.8")).toContain(
      'CHANGELOG.md has no section "## [9.9.8] - YYYY-MM-DD".',
    );
  },
  MOST_MS,
);
