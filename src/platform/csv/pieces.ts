/** A file from its beginning to its end, in pieces small enough that what is made of one is gone before the next. */
import { open } from "node:fs/promises";

/** Read from the disk at a time. */
const BLOCK_BYTES = 256 * 1024;
/**
 * Handed out at a time: some hundred rows. Those of 32 KiB outlive a young generation of V8, and stay until the collector
 * looks through everything: the process of an import of a million rows then held 100 MiB more.
 */
const PIECE_BYTES = 8 * 1024;

/** A piece lies in memory that the next block overwrites: whoever needs it longer copies it. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  await using file = await open(path);
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(block, 0, BLOCK_BYTES);
    if (bytesRead === 0) return;
    for (let at = 0; at < bytesRead; at += PIECE_BYTES) {
      yield block.subarray(at, Math.min(at + PIECE_BYTES, bytesRead));
    }
  }
}
