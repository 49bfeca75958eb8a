/** The worker thread of parse-sent-message.ts. */
import { readCaptured } from "#delivery/capture/parse-captured-message.ts";
import { answerQuestions } from "#platform/process/answer-questions.ts";
import type { ParsedMessage } from "./parse-sent-message.ts";

answerQuestions(async (raw: Uint8Array): Promise<ParsedMessage> => {
  const { attachments, ...rest } = await readCaptured(
    Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength),
  );
  return {
    ...rest,
    attachments: attachments.map(({ content, ...file }) => ({ ...file, size: content.length })),
  };
});
