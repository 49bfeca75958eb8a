/**
 * A mail exchanger that takes everything and only counts, in a process of its own: it survives whatever happens to the
 * service, and costs a benchmark little. Its parent asks it over IPC.
 *
 * It also knows what may rightly come twice. A message is *in doubt* when its connection ended right after the final dot
 * without another word from the client: our 250 may not have been read. A client that sends the next message on the same
 * connection, or keeps it idle, has read it and, in this service, written it down. The next envelope proves nothing: it
 * may have travelled behind the body, before our answer (RFC 2920 section 3.1).
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** What has come so far. */
export interface MailCount {
  /** Messages, every copy counted. */
  readonly received: number;
  /** Copies by Message-ID. */
  readonly copies: ReadonlyMap<string, number>;
  /** How often a connection ended that left this Message-ID in doubt. */
  readonly inDoubt: ReadonlyMap<string, number>;
  /** Messages whose answer nothing has followed yet, on connections that are open. */
  readonly unread: ReadonlySet<string>;
  /** Open conversations between MAIL and the final dot. */
  readonly underWay: number;
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

const END_OF_LINE = Buffer.from("\r\n");
const END_OF_HEADER = Buffer.from("\r\n\r\n");
const END_OF_DATA = Buffer.from("\r\n.\r\n");
const nothing = Buffer.alloc(0);
/** Long enough for any client that lives to read an answer. */
const READ_MS = 2_000;

/** One connection, from the server's side. Of a message only the header section is ever made text. */
class Conversation {
  readonly #socket: Socket;
  readonly #counter: Counter;
  /** What is still to be read; of a message under way only what may be the beginning of its end. */
  #input: Buffer = nothing;
  #isBody = false;
  #isOpen = false;
  /** Of the message under way: as much of it as has come, while its header section is not complete. */
  #head: Buffer | null = nothing;
  #messageId = "";
  /** An answer is held back, and whatever comes behind it waits: it was sent before that answer could be read. */
  #isHolding = false;
  /** The message taken last, while nothing has come after it, and since when. */
  #unread: string | null = null;
  #takenAt = 0;

  constructor(socket: Socket, counter: Counter) {
    this.#socket = socket;
    this.#counter = counter;
    socket.on("data", (chunk: Buffer) => {
      if (chunk.toString("latin1", 0, 4) !== "MAIL") this.#unread = null;
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
      this.#say(this.#read());
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      const isFresh = performance.now() - this.#takenAt < READ_MS + counter.answerMs;
      counter.forget(this, isFresh ? this.#unread : null);
    });
    this.#say("220 counting-mx.example.test ESMTP\r\n");
  }

  /** Between MAIL and the final dot. */
  get isUnderWay(): boolean {
    return this.#isOpen;
  }

  get unread(): string | null {
    return this.#unread;
  }

  /** Takes what is complete; gives the answers to it. */
  #read(): string {
    let output = "";
    while (!this.#isHolding) {
      const mark = this.#isBody ? END_OF_DATA : END_OF_LINE;
      const end = this.#input.indexOf(mark);
      if (end < 0) {
        if (this.#isBody) this.#pass(Math.max(0, this.#input.length - END_OF_DATA.length + 1));
        return output;
      }
      if (this.#isBody) {
        this.#pass(end);
        this.#input = this.#input.subarray(mark.length);
        output += this.#take();
      } else {
        const verb = this.#input.toString("latin1", 0, Math.min(4, end)).toUpperCase();
        this.#input = this.#input.subarray(end + mark.length);
        output += this.#obey(verb);
      }
    }
    return output;
  }

  /** Leaves so many octets of a message behind, in which its Message-ID may have stood. */
  #pass(length: number): void {
    if (this.#head !== null) {
      const passed = this.#input.subarray(0, length);
      this.#head = this.#head.length === 0 ? passed : Buffer.concat([this.#head, passed]);
      const end = this.#head.indexOf(END_OF_HEADER);
      this.#messageId = messageIdIn(this.#head.toString("latin1", 0, end < 0 ? undefined : end));
      if (end >= 0) this.#head = null;
    }
    this.#input = this.#input.subarray(length);
  }

  #obey(verb: string): string {
    this.#isBody = verb === "DATA";
    this.#isOpen ||= verb === "MAIL";
    switch (verb) {
      case "EHLO":
        return "250-counting-mx.example.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 52428800\r\n";
      case "DATA":
        return "354 Go ahead\r\n";
      default:
        return verb === "QUIT" ? "221 2.0.0 Bye\r\n" : "250 2.0.0 Ok\r\n";
    }
  }

  #take(): string {
    this.#counter.note(this.#messageId);
    this.#isBody = false;
    this.#isOpen = false;
    this.#unread = this.#messageId;
    this.#head = nothing;
    this.#messageId = "";
    this.#takenAt = performance.now();
    const answer = "250 2.0.0 Taken\r\n";
    if (this.#counter.answerMs === 0) return answer;
    this.#isHolding = true;
    setTimeout(() => {
      this.#isHolding = false;
      this.#say(answer + this.#read());
    }, this.#counter.answerMs).unref();
    return "";
  }

  #say(text: string): void {
    if (text !== "" && !this.#socket.destroyed) this.#socket.write(text, "latin1");
  }
}

function messageIdIn(header: string): string {
  return /^message-id: *<([^>]*)>/im.exec(header)?.[1] ?? "";
}

class Counter {
  readonly answerMs: number;
  readonly #conversations = new Set<Conversation>();
  #received = 0;
  #copies = new Map<string, number>();
  #inDoubt = new Map<string, number>();

  constructor(answerMs: number) {
    this.answerMs = answerMs;
  }

  get received(): number {
    return this.#received;
  }

  serve(socket: Socket): void {
    this.#conversations.add(new Conversation(socket, this));
  }

  /** A conversation has ended, perhaps with a message whose answer may not have been read. */
  forget(conversation: Conversation, unread: string | null): void {
    this.#conversations.delete(conversation);
    if (unread !== null) this.#inDoubt.set(unread, (this.#inDoubt.get(unread) ?? 0) + 1);
  }

  /** Counts a message. */
  note(id: string): void {
    this.#received += 1;
    this.#copies.set(id, (this.#copies.get(id) ?? 0) + 1);
  }

  take(reset: boolean): MailCount {
    const open = [...this.#conversations];
    const count = {
      received: this.#received,
      copies: this.#copies,
      inDoubt: this.#inDoubt,
      unread: new Set(open.flatMap(({ unread }) => unread ?? [])),
      underWay: open.filter(({ isUnderWay }) => isUnderWay).length,
    };
    if (reset) {
      this.#received = 0;
      this.#copies = new Map();
      this.#inDoubt = new Map();
    }
    return count;
  }
}

if (import.meta.main) {
  const counter = new Counter(Number(process.argv[2] ?? 0));
  const server = createServer({ noDelay: true }, (socket) => counter.serve(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.send?.((server.address() as AddressInfo).port);
  process.on("message", ({ ask, reset }: Question) => {
    process.send?.(ask === "received" ? counter.received : counter.take(reset));
  });
  process.on("disconnect", () => process.exit());
}
