import type { WorkspaceId } from "#platform/ids.ts";
import { capacityFor, nextHour } from "#workspace/billing/derive-meter-reading.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import type { FileAddress } from "./address-file.ts";
import type { WriteDeps } from "./charge-and-write-batch.ts";

/** The part of the workspace's hourly cap that is left for a job: no server is asked about more addresses than it covers. */
export class HourlyCap {
  /** When the next hour begins. */
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

  get isReached(): boolean {
    return this.#left <= 0;
  }

  /** Reserves as many of these places as the cap allows. A text that is not an address costs nothing. */
  reserve(addresses: readonly FileAddress[], places: readonly number[]) {
    const isInside = places.map((place) => !addresses[place]?.syntax.ok || this.#left-- > 0);
    this.#left = Math.max(0, this.#left);
    return {
      inside: places.filter((_, at) => isInside[at]),
      outside: places.filter((_, at) => !isInside[at]),
    };
  }

  /** Returns what was reserved and not used. */
  release(count: number): void {
    this.#left += count;
  }

  /** The cap was reached by other calls of the workspace. */
  close(): void {
    this.#left = -Infinity;
  }
}
