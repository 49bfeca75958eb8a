import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readFileChunks } from "./file-chunks.ts";

const folder = await mkdtemp(join(tmpdir(), "posthaste-pieces-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([0, 1, 8_191, 8_192, 8_193, 262_143, 262_144, 262_145, 600_000])(
  "a file of %i bytes comes whole and in order",
  async (length) => {
    const path = join(folder, String(length));
    const content = randomBytes(length);
    await writeFile(path, content);
    const pieces: Buffer[] = [];
    for await (const piece of readFileChunks(path)) pieces.push(Buffer.from(piece));
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  },
);
