/** Reads the file of people of an import, batch by batch. */
import type { FileHandle } from "node:fs/promises";
import type { Batch } from "./import-plan.ts";

const PIECE_BYTES = 128 * 1024;
/** Twice the size of a batch of people with four custom fields. */
export const BATCH_ROOM_BYTES = 4 * 1024 * 1024;

/**
 * The lines of a batch, in pieces. They are views of `room`, which the caller must not reuse before the batch is
 * written: allocating memory for each piece would trigger a full garbage collection every second. Only what exceeds
 * `room` is allocated.
 */
export async function* readBatch(
  file: FileHandle,
  { offset, bytes }: Batch,
  room: Buffer,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes; ) {
    const wanted = Math.min(PIECE_BYTES, bytes - done);
    const piece =
      done + wanted <= room.length ? room.subarray(done, done + wanted) : Buffer.allocUnsafe(wanted);
    const { bytesRead } = await file.read(piece, 0, wanted, offset + done);
    if (bytesRead === 0) throw new Error("the file of people is shorter than its plan");
    done += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}
