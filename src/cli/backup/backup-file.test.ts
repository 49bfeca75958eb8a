import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { afterAll, expect, test } from "vitest";
import { writeNewFile, writeTo } from "./backup-file.ts";

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

test("an output that fails is named, with the reason", async () => {
  const closed = () => {
    const output = new PassThrough();
    output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    return output;
  };
  const write = (output: Writable) => finished(output);
  await expect(writeTo(closed(), "standard output", write)).rejects.toThrow(
    /^standard output was closed by its reader before the end$/,
  );
  const long = join(folder, "a".repeat(250));
  await expect(writeNewFile(long, write)).rejects.toThrow(/^the file .*\.partial has too long a name$/);
  expect(await readdir(folder)).toEqual(["same"]);
});

test("another fault than that of the output stays as it is", async () => {
  const write = () => Promise.reject(new Error("the database is away"));
  await expect(writeTo(new PassThrough(), "standard output", write)).rejects.toThrow(
    /^the database is away$/,
  );
});
