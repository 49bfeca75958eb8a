import { expect, test } from "vitest";
import { fetchFault, readResponseText } from "./read-response.ts";

/** A response in chunks; `seen` tells whether reading was cancelled, `left` holds the chunks that were not read. */
function answerOf(...pieces: string[]) {
  const octets = pieces.map((piece) => Buffer.from(piece));
  const seen = { isGivenUp: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = octets.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel() {
        seen.isGivenUp = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body), seen, left: octets };
}

test("a body as long as the limit is read whole", async () => {
  const { response, seen } = answerOf("four", "more");
  expect(await readResponseText(response, 8)).toEqual({ text: "fourmore", isWhole: true });
  expect(seen.isGivenUp).toBe(false);
});

test("a body that is too long is read up to the chunk that exceeds the limit", async () => {
  const { response, seen, left } = answerOf("four", "more", "less", "rest");
  expect(await readResponseText(response, 7)).toEqual({ text: "fourmore", isWhole: false });
  expect([seen.isGivenUp, left]).toEqual([true, [Buffer.from("less"), Buffer.from("rest")]]);
});

test("a character that is split between two chunks is decoded", async () => {
  const [first, second] = [Buffer.from("ü").subarray(0, 1), Buffer.from("ü").subarray(1)];
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(first);
      controller.enqueue(second);
      controller.close();
    },
  });
  expect((await readResponseText(new Response(body), 2)).text).toBe("ü");
});

test("a response without a body is an empty text", async () => {
  expect(await readResponseText(new Response(null, { status: 204 }), 1)).toEqual({ text: "", isWhole: true });
});

test("the fault is the cause of fetch's error", () => {
  const refused = new Error("connect ECONNREFUSED");
  expect(fetchFault(new TypeError("fetch failed", { cause: refused }))).toBe("connect ECONNREFUSED");
  expect(fetchFault(new Error("too late"))).toBe("too late");
  expect(fetchFault("odd")).toBe("odd");
});
