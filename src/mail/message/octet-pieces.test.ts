import fc from "fast-check";
import { expect, test } from "vitest";
import { joinOctets, lengthOf, type Octets, writeOctets } from "./octet-pieces.ts";

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const buffers = fc.uint8Array({ maxLength: 20 }).map((octets) => Buffer.from(octets));
const { octets } = fc.letrec<{ octets: Octets }>((tie) => ({
  octets: fc.array(fc.oneof({ maxDepth: 3 }, latin1, buffers, tie("octets")), { maxLength: 5 }),
}));

/** The same, implemented in the simplest way. */
function plainly(all: Octets): Buffer {
  const piece = (one: Octets[number]) =>
    typeof one === "string" ? Buffer.from(one, "latin1") : Buffer.isBuffer(one) ? one : plainly(one);
  return Buffer.concat(all.map(piece));
}

test("pieces are counted, joined and written in order, at any nesting", () => {
  fc.assert(
    fc.property(octets, (all) => {
      const whole = plainly(all);
      expect(lengthOf(all)).toBe(whole.length);
      expect(joinOctets(all).equals(whole)).toBe(true);
      const page = Buffer.alloc(whole.length + 4, "#");
      expect(writeOctets(page, all, 2)).toBe(whole.length + 2);
      expect(page.equals(Buffer.concat([Buffer.from("##"), whole, Buffer.from("##")]))).toBe(true);
    }),
  );
});
