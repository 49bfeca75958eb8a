import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeReturnPath, encodeReturnPath } from "./verp.ts";

const key = createSecretKey(Buffer.alloc(32, 7));
const id = "0198c5a2-7b1e-7c3d-9e4f-0123456789ab";
const workspaceId = "0197aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";
const encode = (messageId: string, by = key) => encodeReturnPath(workspaceId, messageId, by);

describe("a return path", () => {
  test("decodes to its message id and the begin of its workspace's id, in any case of letters", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.boolean(), (workspace, messageId, upper) => {
        const local = encodeReturnPath(workspace, messageId, key);
        const workspacePrefix = workspace.replaceAll("-", "").slice(0, 12);
        expect(decodeReturnPath(upper ? local.toUpperCase() : local, key)).toEqual({
          messageId,
          workspacePrefix,
        });
      }),
    );
  });

  test("is a plain local part of at most 64 octets, the same at every attempt", () => {
    fc.assert(
      fc.property(fc.uuid(), (messageId) => {
        const local = encode(messageId);
        expect(local).toMatch(/^b\.[0-9a-v]{52}$/);
        expect(local.length).toBeLessThanOrEqual(64);
        expect(encodeReturnPath(workspaceId.toUpperCase(), messageId.toUpperCase(), key)).toBe(local);
      }),
    );
  });

  test("keeps leading and trailing zeros of the id", () => {
    for (const messageId of [
      "00000000-0000-0000-0000-000000000000",
      "00000000-0000-4000-8000-00000000ff00",
    ]) {
      expect(decodeReturnPath(encode(messageId), key)).toMatchObject({ messageId });
    }
  });

  test("is refused for an id that is not a UUID", () => {
    for (const wrong of ["", "1", `${id}0`, id.replaceAll("-", ""), `${id}\n`]) {
      expect(() => encodeReturnPath(workspaceId, wrong, key)).toThrow(TypeError);
      expect(() => encodeReturnPath(wrong, id, key)).toThrow(TypeError);
    }
  });
});

describe("a forgery", () => {
  const genuine = encode(id);

  test("with any character changed, also of the workspace, is not accepted", () => {
    const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz.+-=_ \u0000\u0131\u017f\u212a".split("");
    const accepted: string[] = [];
    for (let index = 0; index < genuine.length; index += 1) {
      for (const character of alphabet) {
        const forged = genuine.slice(0, index) + character + genuine.slice(index + 1);
        if (forged !== genuine && decodeReturnPath(forged, key) !== null) accepted.push(forged);
      }
    }
    expect(accepted).toEqual([]);
  });

  test("with many changes, cuts, additions or swaps is not accepted", () => {
    const forgeries = fc.oneof(
      fc
        .string({
          unit: fc.constantFrom(..."0123456789abcdefghijklmnopqrstuv".split("")),
          minLength: 52,
          maxLength: 52,
        })
        .map((token) => `b.${token}`),
      fc.nat(genuine.length - 1).map((length) => genuine.slice(0, length)),
      fc.string({ minLength: 1 }).map((tail) => genuine + tail),
      fc.string({ minLength: 1 }).map((head) => head + genuine),
      fc
        .uuid()
        .map(
          (other) =>
            genuine.slice(0, 28) + encodeReturnPath(other, id, key).slice(28, 38) + genuine.slice(38),
        ),
      fc.uuid().map((other) => encode(other).slice(0, 25) + genuine.slice(25)),
      fc.uuid().map((other) => genuine.slice(0, 25) + encode(other).slice(25)),
      fc.string(),
    );
    fc.assert(
      fc.property(forgeries, (forged) => forged === genuine || decodeReturnPath(forged, key) === null),
      { numRuns: 10_000 },
    );
  });

  test("made with another key is not accepted", () => {
    for (let round = 0; round < 1_000; round += 1) {
      expect(decodeReturnPath(encode(id, createSecretKey(randomBytes(32))), key)).toBeNull();
    }
  });

  test("of the unused bits before the id is not accepted", () => {
    for (const digit of "23456789abcdefghijklmnopqrstuv") {
      expect(decodeReturnPath(`b.${digit}${genuine.slice(3)}`, key)).toBeNull();
    }
  });
});
