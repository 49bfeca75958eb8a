/** The worker thread of render-in-thread.ts. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { type MailToRender, type RenderAnswer, renderMail } from "./render-mail.ts";
import { renderSms } from "./render-sms.ts";

answerQuestions(async (mail: MailToRender): Promise<RenderAnswer> => {
  const answer = mail.campaign.message_type === "sms" ? renderSms(mail) : await renderMail(mail);
  // A copy of the whole mail is of no use to its caller.
  return answer.ok ? { ...answer, message: new Uint8Array() } : answer;
});
