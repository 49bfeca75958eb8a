/** Error messages for the operator when a port of the service cannot be bound. */
import type { Config } from "#platform/config/config.ts";

/** The settings that name a port of the service, in the order in which they are bound. */
const PORTS = ["PORT", "INBOUND_PORT", "SUBMISSION_PORT", "SUBMISSIONS_PORT", "HEALTH_PORT"] as const;
/** Those that listen on HOST, the others on INBOUND_HOST if it is set. */
const OF_HTTP: ReadonlySet<string> = new Set(["PORT", "HEALTH_PORT"]);

export type PortSetting = (typeof PORTS)[number];
type PortConfig = Pick<Config, PortSetting | "HOST" | "INBOUND_HOST">;

/**
 * Waits until the port of a setting listens.
 * @throws Error that names the setting and says what to do
 */
export async function bindPort<Result>(
  config: PortConfig,
  setting: PortSetting,
  listening: Promise<Result>,
): Promise<Result> {
  try {
    return await listening;
  } catch (cause) {
    throw new Error(portFault(config, setting, cause), { cause });
  }
}

function portFault(config: PortConfig, setting: PortSetting, cause: unknown): string {
  const ofMail = OF_HTTP.has(setting) ? null : config.INBOUND_HOST;
  const host = ofMail ?? config.HOST;
  const hostSetting = ofMail === null ? "HOST" : "INBOUND_HOST";
  const place = `${host.includes(":") ? `[${host}]` : host}:${config[setting]}`;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") {
    // Of PORT and HEALTH_PORT a process has only one.
    const before = PORTS.slice(0, PORTS.indexOf(setting)).filter(
      (other) => !(OF_HTTP.has(setting) && OF_HTTP.has(other)),
    );
    const twin = before.find((other) => config[other] === config[setting]);
    return twin === undefined
      ? `${setting}: ${place} is in use by another program. Stop it, or set another ${setting}.`
      : `${setting}: ${place} is already the port of ${twin}. Set another ${setting}.`;
  }
  if (code === "EACCES") {
    return `${setting}: the user of this process may not listen on ${place}. Set a port from 1024 on, or give the process CAP_NET_BIND_SERVICE (docs/operations.md#ports).`;
  }
  if (code === "EADDRNOTAVAIL") {
    return `${hostSetting}: this machine has no address ${host}. Set ${hostSetting} to an address of this machine, or to 0.0.0.0 for all of them.`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `${hostSetting}: the name ${host} has no address. Set ${hostSetting} to an address of this machine.`;
  }
  return `${setting}: ${place} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`;
}
