import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import {
  findSecretKeys,
  formatRing,
  loadSecretKeys,
  parseRing,
  type SecretKeyRing,
  writeKeyFile,
} from "./key-ring.ts";

const [a, b, c] = ["a".repeat(32), "b".repeat(43), "c".repeat(64)] as const;

async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-ring-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.each<[string, string, SecretKeyRing]>([
  ["one key", a, [a]],
  ["keys with commas between them", `${a},${b}`, [a, b]],

  ["spaces around the commas", `${a} , ${b}`, [a, b]],
  ["line ends", `${a}\n${b}\r\n${c}\n`, [a, b, c]],
  ["the same key twice", `${a},${b},${a}`, [a, b]],
  [
    "a key with a comma in it",
    "a secret key that only tests use, ever",
    ["a secret key that only tests use, ever"],
  ],
  [
    "such a key beside another",
    `${a},a secret key that only tests use\\, ever`,
    [a, "a secret key that only tests use, ever"],
  ],
])("a ring is read from %s", (_, text, ring) => {
  expect(parseRing(text)).toEqual(ring);
});

test.each([
  ["too short", "at least 32 characters"],
  [`${a}\nshort`, "at least 32 characters"],
  ["", "at least 32 characters"],
  [["1", "2", "3", "4", "5", "6"].map((digit) => digit.repeat(32)).join(","), "5 keys at most"],
])("the ring %j is refused", (text, fault) => {
  expect(() => parseRing(text)).toThrow(fault);
});

test("every ring is read back unchanged", () => {
  const key = fc.stringMatching(/^[!-~]{1}[ -~]{30,50}[!-~]{1}$/).filter((text) => !text.includes("\\"));
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(",", "\n"),
      (keys, separator) => {
        const [first = "", ...others] = keys;
        expect(parseRing(formatRing([first, ...others], separator as ","))).toEqual(keys);
      },
    ),
  );
});

test("the first start creates a key that only its owner can read, and later starts use it", async () => {
  const dataDir = await newDataDir();
  expect(findSecretKeys(null, dataDir)).toBeUndefined();
  const made = loadSecretKeys(null, dataDir);
  expect(loadSecretKeys(null, dataDir)).toEqual(made);
  expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["secret.key"]);
  expect(loadSecretKeys([a, b], dataDir)).toEqual([a, b]);
});

test("a written ring replaces the one before atomically, readable by its owner only", async () => {
  const dataDir = await newDataDir();
  const [first] = loadSecretKeys(null, dataDir);
  await chmod(join(dataDir, "secret.key"), 0o644);
  writeKeyFile(dataDir, [a, first]);
  expect(loadSecretKeys(null, dataDir)).toEqual([a, first]);
  expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["secret.key"]);
});

test("a file without a key is an error that names it", async () => {
  const dataDir = await newDataDir();
  await writeFile(join(dataDir, "secret.key"), "\n");
  expect(() => loadSecretKeys(null, dataDir)).toThrow(/secret\.key must be at least 32 characters/);
  expect(await readFile(join(dataDir, "secret.key"), "utf8")).toBe("\n");
});
