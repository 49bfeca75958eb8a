import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeDataDirPrivate } from "./private-data-dir.ts";

const warnings: string[] = [];
const log = { warn: (about: { path: string }) => warnings.push(about.path) } as never;

async function newFolder(): Promise<string> {
  warnings.length = 0;
  const folder = await mkdtemp(join(tmpdir(), "posthaste-private-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

test("a DATA_DIR that others can read is made private, with the files of the service", async () => {
  const dataDir = await newFolder();
  for (const name of ["journals", "uploads/part", "lists"])
    await mkdir(join(dataDir, name), { recursive: true });
  const files = ["secret.key", "smtp-tls.pem", "journals/a.1.jsonl", "uploads/part/1", "lists/domains.txt"];
  for (const name of files) {
    await writeFile(join(dataDir, name), "x");
    await chmod(join(dataDir, name), 0o644);
  }
  const folders = [".", "journals", "uploads", "uploads/part", "lists"];
  for (const name of folders) await chmod(join(dataDir, name), 0o755);
  makeDataDirPrivate(dataDir, log);
  for (const name of folders) expect([name, await modeOf(join(dataDir, name))]).toEqual([name, "700"]);
  for (const name of files) expect([name, await modeOf(join(dataDir, name))]).toEqual([name, "600"]);
  expect(warnings).toEqual([]);
});

test("a DATA_DIR that is a link to nothing, or below one, is refused with a sentence that says so", async () => {
  const folder = await newFolder();
  await symlink(join(folder, "not-mounted"), join(folder, "data"));
  for (const dataDir of [join(folder, "data"), join(folder, "data/posthaste")]) {
    expect(() => makeDataDirPrivate(dataDir, log)).toThrow(
      `DATA_DIR: ${dataDir} cannot be created in ${folder}: a link with this name leads to a folder that does not exist.`,
    );
  }
});

test("a missing DATA_DIR is created, private to its owner", async () => {
  const dataDir = join(await newFolder(), "new");
  makeDataDirPrivate(dataDir, log);
  expect(await modeOf(dataDir)).toBe("700");
});

test("other files keep their modes, and links are not followed", async () => {
  const dataDir = await newFolder();
  const elsewhere = join(await newFolder(), "elsewhere");
  await writeFile(elsewhere, "x");
  await chmod(elsewhere, 0o644);
  await symlink(elsewhere, join(dataDir, "secret.key"));
  await writeFile(join(dataDir, "notes.txt"), "x");
  await chmod(join(dataDir, "notes.txt"), 0o644);
  makeDataDirPrivate(dataDir, log);
  expect([await modeOf(elsewhere), await modeOf(join(dataDir, "notes.txt"))]).toEqual(["644", "644"]);
});

test("a shared folder such as /tmp is unchanged, with a warning", async () => {
  const dataDir = await newFolder();
  await chmod(dataDir, 0o1777);
  makeDataDirPrivate(dataDir, log);
  expect([await modeOf(dataDir), warnings]).toEqual(["1777", [dataDir]]);
});

test.runIf(process.geteuid?.() === 0)(
  "what cannot be closed is a warning that names it, and no failure",
  async () => {
    const dataDir = await newFolder();
    await chmod(dataDir, 0o755);
    // As another user, who does not own the folder.
    process.seteuid?.(65_534);
    try {
      makeDataDirPrivate(dataDir, log);
    } finally {
      process.seteuid?.(0);
    }
    expect([await modeOf(dataDir), warnings]).toEqual(["755", [dataDir]]);
  },
);

test.runIf(process.geteuid?.() === 0)(
  "a database of another user that passed as others do is passed by its group",
  async () => {
    const dataDir = await newFolder();
    await mkdir(join(dataDir, "postgres"), { mode: 0o700 });
    await chown(join(dataDir, "postgres"), 65_534, 65_534);
    await chmod(dataDir, 0o755);
    makeDataDirPrivate(dataDir, log);
    expect([await modeOf(dataDir), (await stat(dataDir)).gid]).toEqual(["710", 65_534]);
  },
);

test.runIf(process.geteuid?.() === 0)(
  "the group by which PostgreSQL passes keeps that, and no more",
  async () => {
    const dataDir = await newFolder();
    await mkdir(join(dataDir, "postgres"), { mode: 0o700 });
    await chown(join(dataDir, "postgres"), 60_999, 60_999);
    await chown(dataDir, 0, 60_999);
    await chmod(dataDir, 0o755);
    makeDataDirPrivate(dataDir, log);
    expect(await modeOf(dataDir)).toBe("710");
  },
);
