/** The server's side of one SMTP connection to the fake MX. Text is latin1 throughout: one character, one octet. */
import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { DROP, ENDLESS, RESET, type Script, SLOW, type Stage, scriptFor } from "./fake-mx-scripts.ts";

/** The extensions that the server offers, and its behaviour for all clients. */
export interface Behaviour {
  /** False: EHLO is refused as an unknown command. */
  readonly esmtp: boolean;
  /** False: a command sent before the previous reply is refused with 421. */
  readonly pipelining: boolean;
  readonly eightBitMime: boolean;
  readonly smtpUtf8: boolean;
  /** The SIZE limit in octets; null: SIZE is not offered. */
  readonly size: number | null;
  /**
   * "refused" answers 454, "broken" sends text in place of TLS, and "injected" sends clear-text replies after the 220,
   * as an attacker on the path would (RFC 3207 section 6).
   */
  readonly tls: "none" | "offered" | "refused" | "broken" | "injected";
  readonly secureContext: SecureContext;
  /** Called after the 220 to STARTTLS in place of a TLS handshake; null: a normal handshake. */
  readonly insteadOfTls: ((socket: Socket) => void) | null;
  /** Replies by stage for all clients; they win over the recipient's script. */
  readonly answers: Script;
  /** The same under TLS; they win over `answers`. */
  readonly answersUnderTls: Script;
  /** Delay of a SLOW reply. */
  readonly slowMs: number;
}

/** One received message. */
export interface Delivery {
  readonly mailFrom: string;
  readonly rcptTo: string;
  /** The parameters of MAIL, such as "SIZE=120 BODY=8BITMIME". */
  readonly parameters: string;
  /** The message without dot-stuffing. */
  readonly data: string;
  readonly tls: boolean;
}

/** The server that a connection belongs to. */
export interface Listener {
  command(line: string): void;
  /** Counts a recipient and returns how often it has been seen. */
  meet(recipient: string): number;
  deliver(delivery: Delivery): void;
}

const END_OF_DATA = "\r\n.\r\n";
/** One complete reply and half of another. */
const INJECTED = "250-injected.example.test\r\n250 SIZE 1\r\n250-SIZE 1\r\n250-PIPE";

export class Conversation {
  readonly #behaviour: Behaviour;
  readonly #listener: Listener;
  /** The connection below TLS. */
  readonly #tcp: Socket;
  #socket: Socket;
  #input = "";
  #output = "";
  /** A reply is being delayed; later input waits. */
  #paused = false;
  #closed = false;
  #secured = false;
  #sender: { readonly address: string; readonly parameters: string } | null = null;
  #recipient: string | null = null;
  #accepted = false;
  #script: Script = {};
  /** The pieces of the message being received; null between messages. */
  #body: string[] | null = null;

  constructor(socket: Socket, behaviour: Behaviour, listener: Listener) {
    this.#tcp = socket;
    this.#socket = socket;
    this.#behaviour = behaviour;
    this.#listener = listener;
    this.#listen();
    this.#answer("banner", "220 fake-mx.example.test ESMTP");
    this.#flush();
  }

  #listen(): void {
    this.#socket.on("error", () => this.#socket.destroy());
    this.#socket.on("data", (chunk: Buffer) => {
      this.#input += chunk.toString("latin1");
      this.#work();
    });
  }

  #work(): void {
    while (!this.#paused && !this.#closed) {
      if (this.#body === null ? !this.#readCommand() : !this.#readBody(this.#body)) break;
    }
    this.#flush();
  }

  #readCommand(): boolean {
    const end = this.#input.indexOf("\r\n");
    if (end < 0) return false;
    const line = this.#input.slice(0, end);
    this.#input = this.#input.slice(end + 2);
    this.#listener.command(line);
    if (!this.#behaviour.pipelining && this.#input !== "") this.#say("421 5.5.0 Improper pipelining");
    else this.#obey(line);
    return true;
  }

  #obey(line: string): void {
    const verb = line.split(" ", 1)[0]?.toUpperCase();
    if (verb === "MAIL") this.#onMail(line);
    else if (verb === "RCPT") this.#onRcpt(line);
    else if (verb === "DATA") this.#onData();
    else if (verb === "EHLO") this.#onEhlo();
    else if (verb === "HELO") this.#answer("ehlo", "250 fake-mx.example.test");
    else if (verb === "STARTTLS") this.#onStartTls();
    else if (verb === "RSET") this.#onReset();
    else this.#say(verb === "QUIT" ? "221 2.0.0 Bye" : "500 5.5.2 Unknown command");
  }

  #onEhlo(): void {
    const { esmtp, pipelining, eightBitMime, smtpUtf8, size, tls } = this.#behaviour;
    const offers = [
      pipelining && "PIPELINING",
      eightBitMime && "8BITMIME",
      smtpUtf8 && "SMTPUTF8",
      size !== null && `SIZE ${size}`,
      tls !== "none" && !this.#secured && "STARTTLS",
    ].filter((offer) => offer !== false);
    const lines = ["fake-mx.example.test", ...offers].map((offer) => `250-${offer}\r\n`).join("");
    if (esmtp) this.#answer("ehlo", `${lines}250 ENHANCEDSTATUSCODES`);
    else this.#say("502 5.5.1 Not implemented");
  }

  #onMail(line: string): void {
    const [, address, parameters = ""] = /^MAIL FROM:<([^>]*)> ?(.*)$/i.exec(line) ?? [];
    const next = /^RCPT TO:<([^>]*)>/i.exec(this.#input)?.[1];
    if (next !== undefined) this.#meet(next);
    if (address === undefined) this.#say("501 5.5.4 Syntax error");
    else if (this.#sender !== null) this.#say("503 5.5.1 Nested MAIL");
    else if (!this.#hasOffered(parameters)) this.#say("555 5.5.4 Parameter not offered");
    else if (this.#answer("mail", "250 2.1.0 Sender ok")) this.#sender = { address, parameters };
  }

  #hasOffered(parameters: string): boolean {
    const { eightBitMime, size, smtpUtf8 } = this.#behaviour;
    const offered = new Map([
      ["", true],
      ["BODY", eightBitMime],
      ["SIZE", size !== null],
      ["SMTPUTF8", smtpUtf8],
    ]);
    return parameters.split(" ").every((parameter) => offered.get(parameter.replace(/=.*/, "")) === true);
  }

  #onRcpt(line: string): void {
    const address = /^RCPT TO:<([^>]*)>$/i.exec(line)?.[1];
    if (address !== undefined) this.#meet(address);
    if (address === undefined) this.#say("501 5.5.4 Syntax error");
    else if (this.#sender === null) this.#say("503 5.5.1 MAIL first");
    else if (this.#answer("rcpt", "250 2.1.5 Recipient ok")) this.#accepted = true;
  }

  /** Selects the recipient's script; called at MAIL if RCPT arrived in the same segment. */
  #meet(octets: string): void {
    const recipient = Buffer.from(octets, "latin1").toString("utf8");
    if (this.#recipient === recipient) return;
    this.#recipient = recipient;
    this.#script = scriptFor(recipient, this.#listener.meet(recipient));
  }

  #onData(): void {
    const insists = this.#script.data?.startsWith("354") === true;
    if (!this.#accepted && !insists) this.#say("503 5.5.1 RCPT first");
    else if (this.#answer("data", "354 Go ahead") || insists) {
      // The line end of DATA is also the first half of the end of an empty message (RFC 5321 section 4.1.1.4).
      this.#input = `\r\n${this.#input}`;
      this.#body = [];
    }
  }

  #readBody(pieces: string[]): boolean {
    if (this.#input.length > 2 && this.#planned("body") !== undefined) return this.#answer("body", "");
    const end = this.#input.indexOf(END_OF_DATA);
    if (end < 0) {
      // The end-of-data mark may be split over two segments: keep its possible first part.
      pieces.push(this.#input.slice(0, -END_OF_DATA.length));
      this.#input = this.#input.slice(-END_OF_DATA.length);
      return false;
    }
    pieces.push(this.#input.slice(0, end + 2));
    this.#input = this.#input.slice(end + END_OF_DATA.length);
    this.#onMessage(pieces.join("").replaceAll("\r\n.", "\r\n").slice(2));
    return true;
  }

  #onMessage(data: string): void {
    const { size } = this.#behaviour;
    const delivery = {
      mailFrom: this.#sender?.address ?? "",
      rcptTo: this.#recipient ?? "",
      parameters: this.#sender?.parameters ?? "",
      data,
      tls: this.#secured,
    };
    if (!this.#accepted) this.#say("554 5.5.1 No valid recipients");
    else if (size !== null && data.length > size) this.#say("552 5.3.4 Too large");
    else if (this.#answer("dot", "250 2.0.0 Queued") || this.#planned("dot") === DROP)
      this.#listener.deliver(delivery);
    this.#forget();
  }

  #onReset(): void {
    this.#forget();
    this.#answer("rset", "250 2.0.0 Reset");
  }

  #forget(): void {
    this.#sender = null;
    this.#recipient = null;
    this.#accepted = false;
    this.#script = {};
    this.#body = null;
  }

  #onStartTls(): void {
    const { tls } = this.#behaviour;
    if (tls === "none" || this.#secured) this.#say("502 5.5.1 Not implemented");
    else if (tls === "refused") this.#say("454 4.7.0 TLS not available");
    else if (this.#answer("starttls", "220 2.0.0 Go ahead")) this.#turnToTls();
  }

  #turnToTls(): void {
    const { tls, secureContext, insteadOfTls } = this.#behaviour;
    if (tls === "injected") this.#output += INJECTED;
    this.#flush();
    this.#input = "";
    this.#socket.removeAllListeners("data");
    if (insteadOfTls !== null) insteadOfTls(this.#socket);
    else if (tls === "broken") this.#socket.once("data", () => this.#socket.end("this is not TLS\r\n"));
    else {
      this.#secured = true;
      this.#socket = new TLSSocket(this.#socket, { isServer: true, secureContext });
      this.#listen();
    }
  }

  /** Sends the reply of the stage. True if it was the usual one, so that the dialogue continues. */
  #answer(stage: Stage, usual: string): boolean {
    const answer = this.#planned(stage) ?? usual;
    if (answer === DROP) this.#drop();
    else if (answer === RESET) this.#reset();
    else if (answer === ENDLESS) this.#talkForEver();
    else if (answer === SLOW) this.#sayLater(usual);
    else this.#say(answer);
    return answer === usual || answer === SLOW;
  }

  #planned(stage: Stage): string | undefined {
    const { answers, answersUnderTls } = this.#behaviour;
    return (this.#secured ? answersUnderTls[stage] : undefined) ?? answers[stage] ?? this.#script[stage];
  }

  #say(lines: string): void {
    this.#output += `${lines}\r\n`;
    if (/^(?:421|221) /.test(lines)) this.#close();
  }

  #sayLater(line: string): void {
    this.#flush();
    this.#paused = true;
    setTimeout(() => {
      this.#paused = false;
      this.#say(line);
      this.#work();
    }, this.#behaviour.slowMs);
  }

  #talkForEver(): void {
    this.#flush();
    this.#closed = true;
    const more = () => {
      while (!this.#socket.destroyed && this.#socket.write("250-and another thing\r\n".repeat(10)));
    };
    this.#socket.on("drain", more);
    more();
  }

  #close(): void {
    this.#flush();
    this.#closed = true;
    this.#socket.end();
  }

  #drop(): void {
    this.#flush();
    this.#closed = true;
    this.#socket.destroy();
  }

  #reset(): void {
    this.#closed = true;
    this.#tcp.resetAndDestroy();
  }

  #flush(): void {
    if (this.#output === "" || this.#socket.destroyed) return;
    const output = this.#output;
    this.#output = "";
    this.#socket.write(output, "latin1");
  }
}
