/**
 * What was said on a connection, as the message's timeline shows it: commands, replies, and what happened to the
 * connection. Bodies and credentials never get here. The peer is not trusted: beyond a maximum, the middle is left out.
 */
import { shortenedText } from "#platform/shorten.ts";
import { printable, type ServerReply } from "./reply-reader.ts";

/** One line of a conversation. */
export interface TranscriptLine {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** `connection`: not said by either side, such as the TLS handshake or a timeout. */
  readonly from: "client" | "server" | "connection";
  /** Printable, without its line end. */
  readonly text: string;
}

/** Octets of text that a transcript keeps of its beginning, and of its end. */
const HALF = 2_000;
/** Characters kept of a line. */
const LONGEST_TEXT = 500;

/** Records one part of a conversation: the opening of a connection, or the transaction of one message. */
export class Transcript {
  readonly #head: TranscriptLine[] = [];
  #headOctets = 0;
  /** The newest lines, once the head is full. */
  readonly #tail: TranscriptLine[] = [];
  #tailOctets = 0;
  #left = { lines: 0, octets: 0 };

  /** The lines in order; where the middle was left out, a line says how much. */
  get lines(): readonly TranscriptLine[] {
    const { lines, octets } = this.#left;
    const after = this.#tail[0];
    if (lines === 0 || after === undefined) return [...this.#head, ...this.#tail];
    const text = `${lines} ${lines === 1 ? "line" : "lines"} of ${octets.toLocaleString("en-US")} bytes left out`;
    return [...this.#head, { time: after.time, from: "connection", text }, ...this.#tail];
  }

  /** @param text one command without its line end, or a description of the octets that are not shown */
  client(text: string): void {
    this.#add("client", text);
  }

  server({ code, lines }: ServerReply): void {
    const last = lines.length - 1;
    for (const [at, line] of lines.entries()) this.#heard(`${code}${at === last ? " " : "-"}${line}`);
  }

  /** Lines of a reply whose end did not come, with their code. */
  unfinished({ code, lines }: ServerReply): void {
    for (const line of lines) this.#heard(`${code}-${line}`);
  }

  /** What happened to the connection. The same text twice in a row is one line. */
  note(text: string): void {
    const last = this.#tail.at(-1) ?? this.#head.at(-1);
    if (last?.from !== "connection" || last.text !== shortenedText(text, LONGEST_TEXT))
      this.#add("connection", text);
  }

  /** @param octets latin1 */
  #heard(octets: string): void {
    this.#add("server", printable(octets.slice(0, LONGEST_TEXT + 1)).trimEnd());
  }

  #add(from: TranscriptLine["from"], text: string): void {
    const line = { time: Date.now(), from, text: shortenedText(text, LONGEST_TEXT) };
    const octets = Buffer.byteLength(line.text);
    if (this.#tail.length === 0 && this.#headOctets + octets <= HALF) {
      this.#head.push(line);
      this.#headOctets += octets;
      return;
    }
    this.#tail.push(line);
    this.#tailOctets += octets;
    while (this.#tailOctets > HALF && this.#tail.length > 1) this.#leaveOut();
  }

  #leaveOut(): void {
    const octets = Buffer.byteLength(this.#tail.shift()?.text ?? "");
    this.#tailOctets -= octets;
    this.#left = { lines: this.#left.lines + 1, octets: this.#left.octets + octets };
  }
}
