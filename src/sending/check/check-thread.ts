/** The worker thread that checks mails; it is asked through createMailThread. */
import { parentPort } from "node:worker_threads";
import type { MailToRender } from "#sending/preview/render-mail.ts";
import { checkMail } from "./check-mail.ts";

parentPort?.on("message", (mail: MailToRender) => {
  void checkMail(mail).then(
    (answer) => parentPort?.postMessage(answer),
    // The thread ends, and the caller gets the error.
    (fault: unknown) => {
      throw fault;
    },
  );
});
