/**
 * Measures how much of an invalid UTF-8 file is valid. A few invalid bytes do not change the encoding of a file, and in
 * a file of another encoding few non-ASCII lines are valid UTF-8.
 */
import { readFileChunks } from "./file-chunks.ts";

/** Bytes of non-ASCII lines that are kept to guess another encoding. */
const SAMPLE_BYTES = 64 * 1024;
const LF = 0x0a;
const CR = 0x0d;

export class Utf8Evidence {
  /** Non-ASCII lines that are valid UTF-8, and those that are not. */
  validLines = 0;
  brokenLines = 0;
  /** Multi-byte characters, and invalid bytes. */
  characters = 0;
  strayBytes = 0;
  readonly #sample: Buffer[] = [];
  #sampled = 0;
  #line: Buffer[] = [];
  #hasOpenLine = false;
  #charactersInLine = 0;
  #strayInLine = 0;
  /** Continuation bytes that the current character still needs, and the range of the next one. */
  #needed = 0;
  #from = 0x80;
  #to = 0xbf;
  /** Bytes of the current character so far. */
  #open = 0;

  /** @param isBeginning the last line may be cut off, and does not count */
  static async of(path: string, isBeginning: boolean): Promise<Utf8Evidence> {
    const evidence = new Utf8Evidence();
    for await (const piece of readFileChunks(path)) evidence.#read(piece);
    if (!isBeginning) evidence.#endLine();
    return evidence;
  }

  /** Non-ASCII lines, up to SAMPLE_BYTES. */
  get sample(): Buffer {
    return Buffer.concat(this.#sample);
  }

  #read(piece: Buffer): void {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (byte >= 0x80 || this.#needed > 0) this.#take(byte);
      if (byte !== LF && byte !== CR) continue;
      this.#keep(piece, start, at + 1);
      this.#endLine();
      start = at + 1;
    }
    this.#keep(piece, start, piece.length);
  }

  #keep(piece: Buffer, start: number, end: number): void {
    if (this.#sampled < SAMPLE_BYTES && end > start) {
      this.#line.push(Buffer.from(piece.subarray(start, Math.min(end, start + SAMPLE_BYTES))));
    }
    this.#hasOpenLine ||= end > start;
  }

  /** RFC 3629, section 4. */
  #take(byte: number): void {
    if (this.#needed > 0) {
      if (byte >= this.#from && byte <= this.#to) {
        this.#needed--;
        this.#open++;
        [this.#from, this.#to] = [0x80, 0xbf];
        if (this.#needed === 0) this.#charactersInLine++;
        return;
      }
      this.#dropOpen();
    }
    if (byte < 0x80) return;
    const isLead = byte >= 0xc2 && byte <= 0xf4;
    if (!isLead) {
      this.#strayInLine++;
      return;
    }
    this.#open = 1;
    this.#needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    this.#from = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#to = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
  }

  #dropOpen(): void {
    this.#strayInLine += this.#open;
    this.#needed = 0;
    [this.#from, this.#to] = [0x80, 0xbf];
  }

  #endLine(): void {
    if (this.#needed > 0) this.#dropOpen();
    const isAscii = this.#charactersInLine === 0 && this.#strayInLine === 0;
    if (this.#hasOpenLine && !isAscii) {
      if (this.#strayInLine === 0) this.validLines++;
      else this.brokenLines++;
      this.characters += this.#charactersInLine;
      this.strayBytes += this.#strayInLine;
      if (this.#sampled < SAMPLE_BYTES) {
        this.#sample.push(...this.#line);
        this.#sampled += this.#line.reduce((sum, { length }) => sum + length, 0);
      }
    }
    this.#line = [];
    this.#hasOpenLine = false;
    this.#charactersInLine = 0;
    this.#strayInLine = 0;
  }
}
