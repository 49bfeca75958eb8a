import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AccessToken } from "./operator-page-token.ts";

const folder = mkdtempSync(join(tmpdir(), "posthaste-token-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a token that is not configured is generated once, kept, and readable by its owner only", () => {
  const dataDir = join(folder, "data");
  const { value } = new AccessToken(null, dataDir, "a.token");
  expect(value).toMatch(/^[\w-]{32}$/);
  expect(new AccessToken(null, dataDir, "a.token").value).toBe(value);
  const file = join(dataDir, "a.token");
  expect([statSync(file).mode & 0o777, readFileSync(file, "utf8")]).toEqual([0o600, `${value}\n`]);
  expect(new AccessToken(null, dataDir, "b.token").value).not.toBe(value);
});

test("a configured token writes no file", () => {
  const token = new AccessToken("configured-by-hand", join(folder, "none"), "a.token");
  expect([token.value, token.matches("configured-by-hand"), token.matches("")]).toEqual([
    "configured-by-hand",
    true,
    false,
  ]);
  expect(() => statSync(join(folder, "none"))).toThrow("ENOENT");
});
