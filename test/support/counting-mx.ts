/**
 * A mail exchanger that takes everything and only counts, in a process of its own: it survives whatever happens to the
 * service, and costs a benchmark little. Its parent asks it over IPC.
 *
 * It also knows what may rightly come twice. A message is *in doubt* when its connection ended after the final dot
 * without another word from the client: our 250 may not have been read. A client that goes on on the same connection
 * has read it and, in this service, written it down.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** What has come so far. */
export interface MailCount {
  /** Messages, every copy counted. */
  readonly received: number;
  /** When the first and the last came, in milliseconds since the epoch; 0 before there is one. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Copies by Message-ID. */
  readonly copies: ReadonlyMap<string, number>;
  /** How often a connection ended that left this Message-ID in doubt. */
  readonly inDoubt: ReadonlyMap<string, number>;
}

export interface CountingMx {
  readonly port: number;
  readonly pid: number;
  /** The count as it is now; it begins anew where `reset` says so. */
  count(options?: { readonly reset: boolean }): Promise<MailCount>;
  /** How many messages have come since the last reset. */
  received(): Promise<number>;
  stop(): Promise<void>;
}

interface Question {
  readonly ask: "count" | "received";
  readonly reset: boolean;
}

/** Starts one on a free loopback port. `answerMs` holds back each answer to the final dot. */
export async function startCountingMx(options: { readonly answerMs?: number } = {}): Promise<CountingMx> {
  const child = fork(fileURLToPath(import.meta.url), [String(options.answerMs ?? 0)], {
    serialization: "advanced",
    // The parent's own flags (profiling, say) are not meant for this one.
    execArgv: [],
  });
  const [port] = (await once(child, "message")) as [number];
  let turn: Promise<unknown> = Promise.resolve();
  const ask = <Answer>(question: Question): Promise<Answer> => {
    const answer = turn.then(async () => {
      child.send(question);
      const [said] = (await once(child, "message")) as [Answer];
      return said;
    });
    turn = answer;
    return answer;
  };
  return {
    port,
    pid: child.pid ?? 0,
    count: ({ reset } = { reset: false }) => ask<MailCount>({ ask: "count", reset }),
    received: () => ask<number>({ ask: "received", reset: false }),
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

const END_OF_DATA = "\r\n.\r\n";

/** Counts, and serves connections on whose behalf it counts. */
class Counter {
  readonly #answerMs: number;
  #received = 0;
  #firstAt = 0;
  #lastAt = 0;
  #copies = new Map<string, number>();
  #inDoubt = new Map<string, number>();

  constructor(answerMs: number) {
    this.#answerMs = answerMs;
  }

  get received(): number {
    return this.#received;
  }

  take(reset: boolean): MailCount {
    const count = {
      received: this.#received,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      copies: this.#copies,
      inDoubt: this.#inDoubt,
    };
    if (reset) {
      this.#received = this.#firstAt = this.#lastAt = 0;
      this.#copies = new Map();
      this.#inDoubt = new Map();
    }
    return count;
  }

  serve = (socket: Socket): void => {
    let input = "";
    let isBody = false;
    let unread: string | null = null;
    const answer = (text: string) => {
      if (!socket.destroyed) socket.write(text, "latin1");
    };
    const read = (): string => {
      let output = "";
      for (;;) {
        const end = isBody ? input.indexOf(END_OF_DATA) : input.indexOf("\r\n");
        if (end < 0) return output;
        if (isBody) {
          unread = this.#note(input.slice(0, end));
          input = input.slice(end + END_OF_DATA.length);
          isBody = false;
          if (this.#answerMs > 0) {
            answer(output);
            output = "";
            setTimeout(answer, this.#answerMs, "250 2.0.0 Taken\r\n").unref();
          } else output += "250 2.0.0 Taken\r\n";
        } else {
          const verb = input.slice(0, 4).toUpperCase();
          input = input.slice(end + 2);
          isBody = verb === "DATA";
          output += reply(verb);
        }
      }
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      unread = null;
      input += chunk;
      const output = read();
      if (output !== "") answer(output);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (unread !== null) this.#inDoubt.set(unread, (this.#inDoubt.get(unread) ?? 0) + 1);
    });
    answer("220 counting-mx.example.test ESMTP\r\n");
  };

  #note(message: string): string {
    this.#lastAt = Date.now();
    this.#firstAt ||= this.#lastAt;
    this.#received += 1;
    const id = /^message-id: *<([^>]*)>/im.exec(message)?.[1] ?? "";
    this.#copies.set(id, (this.#copies.get(id) ?? 0) + 1);
    return id;
  }
}

function reply(verb: string): string {
  switch (verb) {
    case "EHLO":
      return "250-counting-mx.example.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 52428800\r\n";
    case "DATA":
      return "354 Go ahead\r\n";
    case "QUIT":
      return "221 2.0.0 Bye\r\n";
    default:
      return "250 2.0.0 Ok\r\n";
  }
}

if (import.meta.main) {
  const counter = new Counter(Number(process.argv[2] ?? 0));
  const server = createServer({ noDelay: true }, counter.serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  process.send?.((server.address() as AddressInfo).port);
  process.on("message", ({ ask, reset }: Question) => {
    process.send?.(ask === "received" ? counter.received : counter.take(reset));
  });
  process.on("disconnect", () => process.exit());
}
