/** What the workspace's hourly cap leaves to a job, so that no server is asked about more addresses than can be paid for. */
import type { WorkspaceId } from "#platform/ids.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { capacityFor, nextHour } from "#workspace/billing/meter-reading.ts";
import type { FileAddress } from "./address-file.ts";
import type { WriteDeps } from "./write-batch.ts";

export class HourlyCap {
  /** When there is room again. */
  readonly end: Date;
  #left: number;

  private constructor(left: number, end: Date) {
    this.#left = left;
    this.end = end;
  }

  static async open({ db, plans, clock }: WriteDeps, workspaceId: WorkspaceId): Promise<HourlyCap> {
    const now = clock.now();
    const { most, refusal } = capacityFor(await getMeterReading(db, plans, workspaceId, now), "validation");
    return new HourlyCap(refusal === "hourly_cap" && most !== null ? most : Infinity, nextHour(now));
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Reserves room for as many of these places as there is; a text that is no address takes none. */
  take(addresses: readonly FileAddress[], places: readonly number[]) {
    const isInside = places.map((place) => !addresses[place]?.syntax.ok || this.#left-- > 0);
    this.#left = Math.max(0, this.#left);
    return {
      inside: places.filter((_, at) => isInside[at]),
      outside: places.filter((_, at) => !isInside[at]),
    };
  }

  /** What was reserved and not used. */
  giveBack(count: number): void {
    this.#left += count;
  }

  /** Others have used it up. */
  close(): void {
    this.#left = -Infinity;
  }
}
