/** An SMTP client that says exactly what a test tells it to, at once or line by line, and hands every reply out. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface SmtpClient {
  /** Writes these octets and nothing else. */
  write(octets: string | Buffer): void;
  /** The next reply, all of its lines, without the last CRLF; "" when the connection is over. */
  reply(): Promise<string>;
  /** One command and its reply. */
  say(command: string): Promise<string>;
  /** STARTTLS, with something in the same packet behind it, and EHLO once more; gives the answer to EHLO. */
  startTls(injected?: string): Promise<string>;
  login(secret: string): Promise<string>;
  /** Resolves when the other side has hung up. */
  readonly ended: Promise<void>;
  close(): void;
}

/**
 * Connects and reads the greeting; over TLS from the first byte when told so.
 * @param localAddress in 127.0.0.0/8: each is a network of its own
 */
export async function openSmtp(
  port: number,
  isImplicitTls = false,
  localAddress = "127.0.0.1",
): Promise<SmtpClient> {
  const insecure = { rejectUnauthorized: false };
  const to = { port, host: "127.0.0.1", localAddress };
  let socket: Socket = isImplicitTls ? connectTls({ ...to, ...insecure }) : connect(to);
  const ended = Promise.withResolvers<void>();
  let text = "";
  let isOver = false;
  let wake = () => {};
  const listen = () => {
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      isOver = true;
      wake();
      ended.resolve();
    });
  };
  listen();
  const client: SmtpClient = {
    write: (octets) => socket.write(octets),
    async reply() {
      for (;;) {
        const whole = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r\n/.exec(text)?.[0];
        if (whole !== undefined) {
          text = text.slice(whole.length);
          return whole.slice(0, -2);
        }
        if (isOver) return "";
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    say(command) {
      client.write(`${command}\r\n`);
      return client.reply();
    },
    async startTls(injected = "") {
      client.write(`STARTTLS\r\n${injected}`);
      await client.reply();
      socket.removeAllListeners();
      socket = connectTls({ socket, ...insecure });
      listen();
      return client.say("EHLO client.test");
    },
    login: (secret) => client.say(`AUTH PLAIN ${Buffer.from(`\0api\0${secret}`).toString("base64")}`),
    ended: ended.promise,
    close: () => socket.destroy(),
  };
  await client.reply();
  return client;
}
