/** The worker thread of parse-sent-message.ts. */
import { parentPort } from "node:worker_threads";
import { readCaptured } from "#delivery/capture/parse-captured-message.ts";
import type { ParsedMessage } from "./parse-sent-message.ts";

parentPort?.on("message", (raw: Uint8Array) => {
  void parse(raw).then((parsed) => parentPort?.postMessage(parsed));
});

async function parse(raw: Uint8Array): Promise<ParsedMessage> {
  const { attachments, ...rest } = await readCaptured(
    Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength),
  );
  return {
    ...rest,
    attachments: attachments.map(({ content, ...file }) => ({ ...file, size: content.length })),
  };
}
