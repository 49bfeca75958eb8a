/** The worker thread that checks mails; it is asked through createMailThread. */
import { answerQuestions } from "#platform/process/answer-questions.ts";
import { checkMail } from "./check-mail.ts";

answerQuestions(checkMail);
