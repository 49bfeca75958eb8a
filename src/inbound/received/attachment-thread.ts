/** The worker thread of read-attachment-in-thread.ts. */
import { readAttachment } from "#inbound/parsing/read-received-mail.ts";
import { answerQuestions } from "#platform/process/answer-questions.ts";
import type { AttachmentQuestion } from "./read-attachment-in-thread.ts";

answerQuestions(({ raw, place }: AttachmentQuestion) => readAttachment(raw, place));
