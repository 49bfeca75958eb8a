import { expect, it } from "vitest";
import { BINARY_END, BINARY_HEAD, binaryRow, binaryValues } from "./binary-copy.ts";

const values = ["", "one", "", "a longer one"].map((text) => Buffer.from(text));
const stream = Buffer.concat([BINARY_HEAD, ...values.flatMap((value) => binaryRow([value])), BINARY_END]);

async function* inPieces(octets: Buffer, size: number) {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

it.each([1, 2, 3, 5, 7, 1_000])("gives complete values from chunks of %d octets", async (size) => {
  const pieces = await Array.fromAsync(binaryValues(inPieces(stream, size)));
  expect(Buffer.concat(pieces).toString()).toBe("onea longer one");
});

it("rejects incomplete data", async () => {
  for (const kept of [0, BINARY_HEAD.length, stream.length - 2, stream.length - 10]) {
    const reading = Array.fromAsync(binaryValues(inPieces(stream.subarray(0, kept), 4)));
    await expect(reading, `${kept} octets`).rejects.toThrow("COPY data ended before its trailer");
  }
});
