/**
 * A mail exchanger that accepts and counts every message, in a separate process: it survives kills of the service and
 * takes little CPU time from a benchmark. The parent process reads the counts over IPC.
 *
 * It also records which messages may correctly arrive twice. A message is *in doubt* if its connection ended right after
 * the final dot without another command: the client may not have read the 250. A client that sends the next message on
 * the same connection, or keeps it idle, has read the 250 and, in this service, has written it to the journal. The next
 * envelope proves nothing: with pipelining it may be sent before our reply (RFC 2920 section 3.1).
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

/** Counts since the start or the last reset. */
export interface MailCount {
  /** Messages, including copies. */
  readonly received: number;
  /** Copies by Message-ID. */
  readonly copies: ReadonlyMap<string, number>;
  /** By Message-ID: how often a connection ended that left it in doubt. */
  readonly inDoubt: ReadonlyMap<string, number>;
  /** Message-IDs on open connections whose reply has not been followed by another command yet. */
  readonly unread: ReadonlySet<string>;
  /** Open transactions between MAIL and the final dot. */
  readonly underWay: number;
}

export interface CountingMx {
  readonly port: number;
  readonly pid: number;
  /** The counts now; `reset` then sets them to zero. */
  count(options?: { readonly reset: boolean }): Promise<MailCount>;
  /** How many messages have come since the last reset. */
  received(): Promise<number>;
  stop(): Promise<void>;
}

interface Question {
  readonly ask: "count" | "received";
  readonly reset: boolean;
}

/**
 * Starts a server on a free port of loopback, or of another address of this machine. `answerMs` delays each reply to the
 * final dot.
 */
export async function startCountingMx({
  answerMs = 0,
  host = "127.0.0.1",
}: {
  readonly answerMs?: number;
  readonly host?: string;
} = {}): Promise<CountingMx> {
  const child = fork(fileURLToPath(import.meta.url), [String(answerMs), host], {
    serialization: "advanced",
    // Flags of the parent process, such as profiling, must not apply to this process.
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
/** In this time every living client has read a reply. */
const READ_MS = 2_000;

/** The server side of one connection. It decodes only the header section of a message. */
class Conversation {
  readonly #socket: Socket;
  readonly #counter: Counter;
  /** Octets that are not parsed yet. During a message: only the octets that may begin the end-of-data mark. */
  #input: Buffer = nothing;
  #isBody = false;
  #isOpen = false;
  /** The first octets of the current message, until its header section is complete. */
  #head: Buffer | null = nothing;
  #messageId = "";
  /** A reply is being delayed. Input that arrives meanwhile is not parsed: it was sent before the reply was read. */
  #isHolding = false;
  /** The last accepted message until another command arrives, and the time of its reply. */
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

  /** True between MAIL and the final dot. */
  get isUnderWay(): boolean {
    return this.#isOpen;
  }

  get unread(): string | null {
    return this.#unread;
  }

  /** Parses complete commands and returns the replies. */
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

  /** Consumes `length` octets of a message and looks for its Message-ID in them. */
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

  /** Called when a connection ends. `unread` is the Message-ID whose reply the client may not have read. */
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
  server.listen(0, process.argv[3]);
  await once(server, "listening");
  process.send?.((server.address() as AddressInfo).port);
  process.on("message", ({ ask, reset }: Question) => {
    process.send?.(ask === "received" ? counter.received : counter.take(reset));
  });
  process.on("disconnect", () => process.exit());
}
