/** The worker thread of compile-in-thread.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { checkTemplate } from "./check-template.ts";
import type { CompileAnswer, CompileQuestion } from "./compile-in-thread.ts";
import { compileSource } from "./compile-source.ts";

answerQuestions(async (question: CompileQuestion): Promise<CompileAnswer> => {
  if (question.template === undefined) return compileSource(question.source, question.brand);
  return { checked: await checkTemplate(question.template, question.brand) };
});
