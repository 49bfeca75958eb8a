/** Which source addresses other delivery machines have: each announces its own, again and again. */
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { localNetworks } from "#platform/network/local-networks.ts";
import { announceAddresses, listAnnouncedAddresses } from "./address-store.ts";

const ANNOUNCE_MS = 20_000;
/** A machine that is silent for so long is gone. */
const SILENCE_SECONDS = 60;

export interface OtherMachines {
  /** Whether any machine, this one included, has announced the address. */
  have(ip: string): boolean;
  stop(): Promise<void>;
}

export async function watchOtherMachines(db: Database, log: Log): Promise<OtherMachines> {
  let announced: ReadonlySet<string> = new Set();
  const look = async () => {
    try {
      await announceAddresses(db, localNetworks().addresses);
      announced = new Set(await listAnnouncedAddresses(db, SILENCE_SECONDS));
    } catch (err) {
      log.error({ err }, "the addresses of delivery machines could not be exchanged");
    }
  };
  let looking = look();
  await looking;
  const timer = setInterval(() => {
    looking = look();
  }, ANNOUNCE_MS).unref();
  return {
    have: (ip) => announced.has(ip),
    stop() {
      clearInterval(timer);
      return looking;
    },
  };
}
