/** The pauses of a recurring task while what it asks does not answer: each is twice as long as the one before. */
import { PutBack } from "./attempt.ts";

const SHORTEST_SECONDS = 30;
const LONGEST_SECONDS = 900;

export class SilentRounds {
  #silent = 0;

  /** Notes a round without any answer. @returns for the task to throw */
  noteSilence(): PutBack {
    const seconds = Math.min(SHORTEST_SECONDS * 2 ** this.#silent, LONGEST_SECONDS);
    this.#silent++;
    return new PutBack(seconds);
  }

  noteAnswer(): void {
    this.#silent = 0;
  }
}
