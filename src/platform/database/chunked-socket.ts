/**
 * The socket of a connection to PostgreSQL, which writes large buffers in chunks. A server on the same machine reads as fast
 * as we write, so a single write of tens of megabytes would block the event loop until all is copied. Between two chunks
 * other work can run.
 */
import { Socket } from "node:net";

/** Copying this takes well under a millisecond. */
const PIECE_BYTES = 256 * 1024;

type Written = (error?: Error | null) => void;
interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

export class ChunkedSocket extends Socket {
  override _write(chunk: Buffer | string, encoding: BufferEncoding, written: Written): void {
    if (chunk.length <= PIECE_BYTES) super._write(chunk, encoding, written);
    else this.#writePieces([octetsOf({ chunk, encoding })], written);
  }

  override _writev(chunks: Chunk[], written: Written): void {
    const length = chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);
    if (length <= PIECE_BYTES && super._writev !== undefined) super._writev(chunks, written);
    else this.#writePieces(chunks.map(octetsOf), written);
  }

  #writePieces(octets: Buffer[], written: Written): void {
    const [first, ...others] = octets;
    if (first === undefined) {
      written();
      return;
    }
    const piece = first.subarray(0, PIECE_BYTES);
    const rest = first.subarray(PIECE_BYTES);
    super._write(piece, "buffer" as BufferEncoding, (fault) => {
      if (fault) written(fault);
      else setImmediate(() => this.#writePieces(rest.length > 0 ? [rest, ...others] : others, written));
    });
  }
}

function octetsOf({ chunk, encoding }: Chunk): Buffer {
  return typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk;
}
