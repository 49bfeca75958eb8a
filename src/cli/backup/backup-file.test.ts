import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeNewFile } from "./backup-file.ts";

const folder = await mkdtemp(join(tmpdir(), "posthaste-backup-file-"));
afterAll(() => rm(folder, { recursive: true }));

test("of two backups with the same file one gets the name, whole, and the other is refused", async () => {
  const file = join(folder, "same");
  const [isOpen, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = writeNewFile(file, async (output) => {
    output.write("slow ");
    isOpen.resolve();
    await mayEnd.promise;
    output.write("and whole");
  });
  await isOpen.promise;
  await writeNewFile(file, async (output) => output.write("fast and whole"));
  mayEnd.resolve();
  await expect(slow).rejects.toThrow(`${file} exists: name another file`);
  expect(await readFile(file, "utf8")).toBe("fast and whole");
  expect(await readdir(folder)).toEqual(["same"]);
});
