/** The worker thread that checks mails; it is asked through createMailThread. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { checkMail, type MailToCheck } from "./check-mail.ts";
import { checkSms } from "./check-sms.ts";

answerQuestions(async (mail: MailToCheck) =>
  mail.campaign.message_type === "sms" ? checkSms(mail) : checkMail(mail),
);
