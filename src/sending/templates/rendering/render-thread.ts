/** The worker thread of template-renderer.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { type MailsToRender, type RenderedTemplate, TemplateRenderings } from "./render-templates.ts";

const renderings = new TemplateRenderings();

answerQuestions(async (question: MailsToRender): Promise<RenderedTemplate[]> => renderings.render(question));
