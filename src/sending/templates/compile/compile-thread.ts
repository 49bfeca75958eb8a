/** The worker thread of compile-in-thread.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { type CheckedTemplate, checkTemplate } from "./check-template.ts";
import type { CompileAnswer, CompileQuestion } from "./compile-in-thread.ts";
import { compileSource } from "./compile-source.ts";

answerQuestions(async (question: CompileQuestion): Promise<CompileAnswer> => {
  if (question.templates === undefined) return compileSource(question.source, question.brand);
  const checked: CheckedTemplate[] = [];
  for (const template of question.templates) {
    const answer = await checkTemplate(template, question.brand);
    checked.push(answer);
    // What a layout wraps cannot be compiled in a layout with faults.
    if (!answer.ok) break;
  }
  return { checked };
});
