/** An SMTP client that sends exactly the octets of a test, at once or by line, and returns every reply. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface SmtpClient {
  /** Writes exactly these octets. */
  write(octets: string | Buffer): void;
  /** The next reply with all its lines, without the last CRLF; "" if the connection has ended. */
  reply(): Promise<string>;
  /** Sends one command and returns its reply. */
  say(command: string): Promise<string>;
  /** Sends STARTTLS, with `injected` in the same packet, and EHLO again; returns the reply to EHLO. */
  startTls(injected?: string): Promise<string>;
  login(secret: string): Promise<string>;
  /** Resolves when the server has closed the connection. */
  readonly ended: Promise<void>;
  close(): void;
}

/**
 * Connects and reads the greeting; optionally with implicit TLS.
 * @param localAddress an address in 127.0.0.0/8; the service counts each as a separate network
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
