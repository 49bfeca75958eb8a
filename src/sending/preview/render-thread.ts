/** The worker thread of render-in-thread.ts. */
import { parentPort } from "node:worker_threads";
import { type MailToRender, renderMail } from "./render-mail.ts";

parentPort?.on("message", (mail: MailToRender) => {
  void renderMail(mail).then(
    (answer) => parentPort?.postMessage(answer),
    // The thread ends, and the caller gets the error.
    (fault: unknown) => {
      throw fault;
    },
  );
});
