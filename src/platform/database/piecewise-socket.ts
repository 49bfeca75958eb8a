/**
 * The socket of a connection to PostgreSQL. A server on the same machine empties the socket while it is being filled, so
 * that one write of tens of megabytes holds up the event loop until all of it is copied: it is written in pieces, and
 * other work runs between two of them.
 */
import { Socket } from "node:net";

/** Copied in well under a millisecond. */
const PIECE_BYTES = 256 * 1024;

type Written = (error?: Error | null) => void;
interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

export class PiecewiseSocket extends Socket {
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
