/**
 * An SMTP load generator in a separate process: its connections log in over STARTTLS and submit the same mail repeatedly.
 * The commands of the next message follow the final dot of the last one (pipelining, RFC 2920 section 3.1), so that a
 * message takes one round trip.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";

export interface SmtpLoad {
  readonly port: number;
  readonly password: string;
  readonly from: string;
  readonly to: string;
  /** Header section and body with CRLF line ends; no line begins with a dot. */
  readonly message: string;
  readonly connections: number;
  /** Duration of the measurement; below, the time before it that is not counted. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface SmtpLoadResult {
  /** Accepted messages per second. */
  readonly rate: number;
  /** Percentiles of the time from message to 250, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Runs the load. @throws if a message is refused or a connection breaks */
export async function runSmtpLoad(load: SmtpLoad): Promise<SmtpLoadResult> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  child.send(load);
  const [outcome] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [unknown];
  if (typeof outcome !== "object" || outcome === null) throw new Error("the load generator ended early");
  if ("fault" in outcome) throw new Error(`under load: ${String(outcome.fault)}`);
  return outcome as SmtpLoadResult;
}

/** Reads reply codes, one at a time, from the current socket of a connection. */
class Replies {
  #text = "";
  #codes: string[] = [];
  #wake = () => {};
  #fault: Error | null = null;

  listen(socket: Socket): void {
    const fail = (fault: Error) => {
      this.#fault = fault;
      this.#wake();
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      const lines = (this.#text + chunk).split("\r\n");
      this.#text = lines.pop() ?? "";
      this.#codes.push(...lines.filter((line) => line[3] !== "-"));
      this.#wake();
    });
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the connection was closed")));
  }

  /** @throws if a reply has another code or the connection has ended */
  async expect(...wanted: readonly string[]): Promise<void> {
    for (const code of wanted) {
      let line = this.#codes.shift();
      while (line === undefined) {
        if (this.#fault !== null) throw this.#fault;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        line = this.#codes.shift();
      }
      if (!line.startsWith(code)) throw new Error(line);
    }
  }
}

async function converse(load: SmtpLoad, note: (sentAt: number) => void, isOver: () => boolean) {
  const replies = new Replies();
  const plain = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
  replies.listen(plain);
  await replies.expect("220");
  plain.write("EHLO client.test\r\n");
  await replies.expect("250");
  plain.write("STARTTLS\r\n");
  await replies.expect("220");
  plain.removeAllListeners();
  const socket = connectTls({ socket: plain, rejectUnauthorized: false });
  replies.listen(socket);
  socket.write("EHLO client.test\r\n");
  await replies.expect("250");
  socket.write(`AUTH PLAIN ${Buffer.from(`\0api\0${load.password}`).toString("base64")}\r\n`);
  await replies.expect("235");

  const envelope = `MAIL FROM:<${load.from}>\r\nRCPT TO:<${load.to}>\r\nDATA\r\n`;
  const message = Buffer.from(`${load.message}\r\n.\r\n${envelope}`);
  socket.write(envelope);
  await replies.expect("250", "250", "354");
  while (!isOver()) {
    const sentAt = performance.now();
    socket.write(message);
    await replies.expect("250");
    note(sentAt);
    await replies.expect("250", "250", "354");
  }
  socket.removeAllListeners();
  socket.on("error", () => {});
  socket.destroy();
}

async function run(load: SmtpLoad): Promise<SmtpLoadResult> {
  const from = performance.now() + load.warmUpSeconds * 1000;
  const until = from + load.seconds * 1000;
  const latencies: number[] = [];
  const note = (sentAt: number) => {
    const now = performance.now();
    if (now >= from && now < until) latencies.push(now - sentAt);
  };
  const isOver = () => performance.now() >= until;
  await Promise.all(Array.from({ length: load.connections }, () => converse(load, note, isOver)));
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { rate: latencies.length / load.seconds, p50: at(0.5), p99: at(0.99) };
}

if (import.meta.main) {
  const [load] = (await once(process, "message")) as [SmtpLoad];
  try {
    process.send?.(await run(load));
  } catch (error) {
    process.send?.({ fault: error instanceof Error ? error.message : error });
  }
  process.disconnect();
}
