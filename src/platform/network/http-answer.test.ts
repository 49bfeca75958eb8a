import { expect, test } from "vitest";
import { readText, reasonOf } from "./http-answer.ts";

/** An answer that comes in pieces, and remembers whether it was read to its end or given up. */
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

test("an answer as long as it may be is read whole", async () => {
  const { response, seen } = answerOf("four", "more");
  expect(await readText(response, 8)).toEqual({ text: "fourmore", isWhole: true });
  expect(seen.isGivenUp).toBe(false);
});

test("of an answer that is too long nothing is read beyond the piece that made it so", async () => {
  const { response, seen, left } = answerOf("four", "more", "less", "rest");
  expect(await readText(response, 7)).toEqual({ text: "fourmore", isWhole: false });
  expect([seen.isGivenUp, left]).toEqual([true, [Buffer.from("less"), Buffer.from("rest")]]);
});

test("a character that is torn between two pieces is mended", async () => {
  const [first, second] = [Buffer.from("ü").subarray(0, 1), Buffer.from("ü").subarray(1)];
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(first);
      controller.enqueue(second);
      controller.close();
    },
  });
  expect((await readText(new Response(body), 2)).text).toBe("ü");
});

test("an answer without a body is empty", async () => {
  expect(await readText(new Response(null, { status: 204 }), 1)).toEqual({ text: "", isWhole: true });
});

test("the reason is the one below fetch's own", () => {
  const refused = new Error("connect ECONNREFUSED");
  expect(reasonOf(new TypeError("fetch failed", { cause: refused }))).toBe("connect ECONNREFUSED");
  expect(reasonOf(new Error("too late"))).toBe("too late");
  expect(reasonOf("odd")).toBe("odd");
});
