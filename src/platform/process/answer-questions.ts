/** The inside of a worker thread that createWorkerThread asks (worker-thread.ts). */
import { parentPort } from "node:worker_threads";

/** Answers each question with one message. An answer that rejects ends the thread, and the caller of `ask` gets the error. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  parentPort?.on("message", (question: Question) => {
    void answer(question).then(
      (answered) => parentPort?.postMessage(answered),
      (fault: unknown) => {
        throw fault;
      },
    );
  });
}
