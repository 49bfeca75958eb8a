/** All that `posthaste doctor` looks at, in the order in which a first mail needs it. */
import { listActiveIps } from "../../identity/sending-ips/store.ts";
import { domainOf } from "../../mail/address.ts";
import type { Config } from "../../platform/config.ts";
import { createResolver } from "../../platform/dns.ts";
import { withDatabase } from "../database.ts";
import { type Finding, of } from "./finding.ts";
import { checkDatabase, checkDisk } from "./machine.ts";
import { checkMailNames, checkPublicUrl, checkReverseNames } from "./names.ts";
import { checkDirectWay, checkRelay } from "./way-out.ts";

const DNS = { timeoutMs: 5_000, tries: 2 };

export interface ExaminationOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: Config;
  /** Whose mail hosts are tried; null: those of PLATFORM_FROM. */
  readonly mxOf: string | null;
}

/** Never rejects for what it finds. */
export async function examine({ environment, config, mxOf }: ExaminationOptions): Promise<Finding[]> {
  const { findings, sendingIps } = await lookIntoDatabase(environment);
  // Behind the embedded database, which makes the folder.
  const disk = await checkDisk(config.DATA_DIR);
  return [...findings, disk, ...(await checkMail(config, sendingIps, mxOf))];
}

async function lookIntoDatabase(environment: ExaminationOptions["environment"]) {
  try {
    return await withDatabase(environment, async (db, applied) => ({
      findings: await checkDatabase(db, applied),
      sendingIps: await listActiveIps(db),
    }));
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault);
    return { findings: [of("database")("fault", `The database cannot be used: ${reason}`)], sendingIps: [] };
  }
}

async function checkMail(
  config: Config,
  sendingIps: Awaited<ReturnType<typeof listActiveIps>>,
  mxOf: string | null,
): Promise<Finding[]> {
  const { MAIL_MODE, MAIL_HOSTNAME, PLATFORM_FROM } = config;
  if (MAIL_MODE === "capture") {
    return [of("mail")("not_checked", "MAIL_MODE is capture: nothing leaves this machine.")];
  }
  const resolver = createResolver({ servers: config.DNS_SERVERS, ...DNS });
  const domain = mxOf ?? (PLATFORM_FROM === null ? null : domainOf(PLATFORM_FROM));
  const [way, reverse, names, url] = await Promise.all([
    MAIL_MODE === "relay" ? checkRelay(resolver, config) : checkDirectWay(resolver, config, domain),
    // Receivers see the smart host's address, not ours.
    MAIL_MODE === "relay" ? [] : checkReverseNames(resolver, MAIL_HOSTNAME, sendingIps),
    checkMailNames(resolver, config),
    checkPublicUrl(config),
  ]);
  return [way, ...reverse, ...names, url];
}
