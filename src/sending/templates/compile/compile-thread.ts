/** The worker thread of compile-in-thread.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { type CheckedTemplate, checkTemplate, type TemplateToCheck } from "./check-template.ts";
import { type CompiledSource, compileSource } from "./compile-source.ts";
import type { ContentSource } from "./content-source.ts";

export type CompileQuestion =
  | { readonly source: ContentSource; readonly templates?: undefined }
  | { readonly templates: readonly TemplateToCheck[] };
export type CompileAnswer = CompiledSource | { readonly checked: readonly CheckedTemplate[] };

answerQuestions(async (question: CompileQuestion): Promise<CompileAnswer> => {
  if (question.templates === undefined) return compileSource(question.source);
  const checked: CheckedTemplate[] = [];
  for (const template of question.templates) {
    const answer = await checkTemplate(template);
    checked.push(answer);
    // What a layout wraps cannot be compiled in a layout with faults.
    if (!answer.ok) break;
  }
  return { checked };
});
