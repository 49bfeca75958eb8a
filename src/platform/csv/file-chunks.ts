/** Reads a file in chunks small enough that the objects made from one are collected before the next. */
import { open } from "node:fs/promises";

/** Bytes read from the disk at a time. */
const BLOCK_BYTES = 256 * 1024;
/**
 * Bytes yielded at a time: some hundred rows. Objects from chunks of 32 KiB survive V8's young generation until a full
 * collection: importing a million rows then took 100 MiB more memory.
 */
const PIECE_BYTES = 8 * 1024;

/** Yields views of a buffer that the next block overwrites: copy a chunk to keep it. */
export async function* readFileChunks(path: string): AsyncGenerator<Buffer> {
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
