/** All checks of `posthaste doctor`, in the order in which a first mail depends on them. */

import { withDatabaseAsItIs } from "#cli/command/database.ts";
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { listActiveIps } from "#identity/sending-ips/store.ts";
import { domainOf } from "#mail/address.ts";
import { systemClock } from "#platform/clock.ts";
import { type Config, readConfig } from "#platform/config/config.ts";
import { ConfigError } from "#platform/config/setting-readers.ts";
import { sentence } from "#platform/error-sentence.ts";
import { localUrl } from "#platform/network/local-url.ts";
import { plansInForce } from "#workspace/billing/describe-plans-in-force.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { checkArchive, checkDatabase, checkDisk } from "./database-clock-disk.ts";
import { checkDatabaseServers } from "./database-servers.ts";
import { checkDeliveryProcesses } from "./delivery-processes.ts";
import { checkDnsServers } from "./dns-servers.ts";
import { checkDirectWay, checkRelay } from "./egress.ts";
import { type Finding, of } from "./finding.ts";
import { checkMailNames } from "./own-dns-records.ts";
import { checkPublicUrl } from "./public-url.ts";
import { checkReplication } from "./replication.ts";
import { checkReverseNames } from "./reverse-dns.ts";
import { checkSecretKey } from "./secret-key.ts";
import { checkStandby } from "./standby.ts";

const DNS = { timeoutMs: 5_000, tries: 4, isFresh: true };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Changes nothing. A fault is a finding, not a rejection.
 * @param mxOf domain whose mail hosts are tried; null for the domain of PLATFORM_FROM
 */
export async function examine(environment: Environment, mxOf: string | null): Promise<Finding[]> {
  const config = readSettings(environment);
  if (config instanceof ConfigError) {
    return config.message.split("\n").map((fault) => of("settings")("fault", `${fault}.`));
  }
  const settings = of("settings")("ok", "All settings can be read.");
  const { findings, sendingIps } = await lookIntoDatabase(environment, config);
  // After the embedded database, which creates the folder.
  const disk = await checkDisk(config.DATA_DIR);
  const dnsServers = await checkDnsServers(config, DNS);
  return [settings, ...findings, disk, ...dnsServers, ...(await checkMail(config, sendingIps, mxOf))];
}

function readSettings(environment: Environment): Config | ConfigError {
  try {
    return readConfig(environment);
  } catch (fault) {
    if (fault instanceof ConfigError) return fault;
    throw fault;
  }
}

interface DatabaseLook {
  readonly findings: readonly Finding[];
  /** Null if the database cannot be read. */
  readonly sendingIps: Awaited<ReturnType<typeof listActiveIps>> | null;
}

async function lookIntoDatabase(environment: Environment, config: Config): Promise<DatabaseLook> {
  try {
    return await withDatabaseAsItIs(environment, async (db) => {
      const server = await checkDatabase(db);
      const standby = await checkStandby(db, config.DATABASE_READ_URL);
      // The embedded database has no standby.
      const replication = config.DATABASE_URL === null ? [] : [await checkReplication(db)];
      const servers = await checkDatabaseServers(config.DATABASE_URL);
      const findings = [...server, ...servers, ...replication, ...standby];
      const isOurs = findings.some(({ check, status }) => check === "schema" && status === "ok");
      if (!isOurs) return { findings, sendingIps: null };
      const secretKey = await checkSecretKey(db, config);
      const plans = await plansInForce(db, readPlans(config.PLANS_FILE), systemClock.now());
      const plan = of("plan")("ok", `${plans.charAt(0).toUpperCase()}${plans.slice(1)}.`);
      const archive = await checkArchive(db, config);
      const delivery = await checkDeliveryProcesses(db);
      const all = [...findings, secretKey, plan, ...archive, delivery];
      return { findings: all, sendingIps: await listActiveIps(db) };
    });
  } catch (fault) {
    const finding = of("database")("fault", `The database cannot be used: ${sentence(fault)}.`);
    return { findings: [finding], sendingIps: null };
  }
}

async function checkMail(
  config: Config,
  sendingIps: DatabaseLook["sendingIps"],
  mxOf: string | null,
): Promise<Finding[]> {
  const { MAIL_MODE, MAIL_HOSTNAME, PLATFORM_FROM } = config;
  const ignored =
    mxOf === null || MAIL_MODE === "direct"
      ? []
      : [
          of("--mx-of")(
            "not_checked",
            `MAIL_MODE is ${MAIL_MODE}: no mail host is asked, so it was ignored.`,
          ),
        ];
  if (MAIL_MODE === "capture") {
    const value = inboxToken(config).find();
    const inbox = value === undefined ? "" : ` The inbox is at ${inboxAddress(localUrl(config), { value })}`;
    return [
      of("mail")("not_checked", `MAIL_MODE is capture: nothing leaves this machine.${inbox}`),
      ...ignored,
    ];
  }
  const resolver = createResolver({ servers: config.DNS_SERVERS, ...DNS });
  const domain = mxOf ?? (PLATFORM_FROM === null ? null : domainOf(PLATFORM_FROM));
  const [way, reverse, names, url] = await Promise.all([
    MAIL_MODE === "relay" ? checkRelay(resolver, config) : checkDirectWay(resolver, config, domain),
    // Receivers see the smart host's address, not ours.
    MAIL_MODE === "relay" ? [] : checkReverseNames(resolver, MAIL_HOSTNAME, sendingIps),
    checkMailNames(resolver, config, sendingIps),
    checkPublicUrl(config),
  ]);
  return [way, ...ignored, ...reverse, ...names, url];
}
