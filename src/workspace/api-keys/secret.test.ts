import { expect, test } from "vitest";
import { hashSecret, newSecret, prefixOf } from "./secret.ts";

test("a secret is efk_ and 40 base62 characters, and never the same", () => {
  const secrets = Array.from({ length: 1_000 }, newSecret);
  expect(secrets.filter((secret) => !/^efk_[0-9A-Za-z]{40}$/.test(secret))).toEqual([]);
  expect(new Set(secrets).size).toBe(1_000);
});

test("no character is favoured", () => {
  const counts = new Map<string, number>();
  const draws = Array.from({ length: 1_550 }, () => newSecret().slice(4)).join("");
  for (const character of draws) counts.set(character, (counts.get(character) ?? 0) + 1);
  // 62,000 draws: 1,000 of each of 62, give or take 32. A byte modulo 62 would favour eight of them by a quarter.
  expect(counts.size).toBe(62);
  expect(Math.max(...counts.values())).toBeLessThan(1_200);
  expect(Math.min(...counts.values())).toBeGreaterThan(800);
});

test("the stored hash is the SHA-256 of the secret and the prefix shows four random characters", () => {
  expect(hashSecret("abc").toString("hex")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // FIPS 180-2, appendix B.1
  );
  expect(prefixOf(`efk_${"x".repeat(40)}`)).toBe("efk_xxxx");
});
