import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeConversation, encodeConversation } from "./conversation.ts";

const anyLine = fc.record({
  time: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  from: fc.constantFrom("client", "server", "connection"),
  text: fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n]/g, "")),
});

test("lines are the same after they were stored, whatever their text and times", () => {
  fc.assert(
    fc.property(fc.array(anyLine), (lines) => {
      expect(decodeConversation(encodeConversation(lines))).toEqual(lines);
    }),
  );
});

test("records that are missing or not understood have no lines", () => {
  expect(decodeConversation(null)).toEqual([]);
  expect(decodeConversation("")).toEqual([]);
  expect(decodeConversation("?what\nlzabc123>QUIT")).toMatchObject([{ from: "client", text: "QUIT" }]);
});
