/**
 * The configuration: the settings, read once at start, and what follows from them. The environment is read nowhere else
 * (main.ts hands it in).
 */
import { hostname } from "node:os";
import { parse } from "tldts";
import { ConfigError, HOST_NAME, type Setting } from "./setting-readers.ts";
import { type SettingName, settings } from "./settings.ts";

type SettingValues = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]["read"]> };

export interface Config extends SettingValues {
  readonly MAIL_HOSTNAME: string;
  readonly BOUNCE_DOMAIN: string;
  readonly PLATFORM_SPF_DOMAIN: string;
  readonly TRACKING_HOST: string;
  /** Sender of the service's own mail. */
  readonly PLATFORM_SENDER: string;
  /** Sender of messages that name none, which every workspace may name as well; null: there is none. */
  readonly DEFAULT_SENDER: string | null;
  /**
   * The name of this machine, which takes the place of MAIL_HOSTNAME while that is not set, where it is none that others
   * could look up; else null.
   */
  readonly PRIVATE_NAME: string | null;
}

/** Reads and checks every setting; throws one ConfigError that lists all faults. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<Setting<unknown>>(settings)) {
    try {
      values[name] = definition.read(environment[name]?.trim() || definition.default);
    } catch (fault) {
      if (!(fault instanceof ConfigError)) throw fault;
      faults.push(`${name} ${fault.message}`);
    }
  }
  const read = values as SettingValues;
  if (faults.length === 0 && read.MAIL_MODE === "relay" && read.RELAY_URL === null) {
    faults.push("RELAY_URL must be set when MAIL_MODE is relay");
  }
  if (faults.length === 0 && (read.TLS_CERT_FILE === null) !== (read.TLS_KEY_FILE === null)) {
    faults.push("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
  }
  if (faults.length === 0 && (read.STRIPE_SECRET_KEY === null) !== (read.STRIPE_WEBHOOK_SECRET === null)) {
    faults.push("STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be set together");
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const mailHostname = read.MAIL_HOSTNAME ?? machineName();
  const platformSender = read.PLATFORM_FROM ?? `posthaste@${mailHostname}`;
  return {
    ...read,
    MAIL_HOSTNAME: mailHostname,
    BOUNCE_DOMAIN: read.BOUNCE_DOMAIN ?? `bounce.${mailHostname}`,
    PLATFORM_SPF_DOMAIN: read.PLATFORM_SPF_DOMAIN ?? `spf.${mailHostname}`,
    TRACKING_HOST: (read.TRACKING_HOST ?? hostNameOf(read.PUBLIC_URL) ?? mailHostname).toLowerCase(),
    PLATFORM_SENDER: platformSender,
    // Nothing leaves the machine in capture mode, so that any address will do.
    DEFAULT_SENDER: read.PLATFORM_FROM ?? (read.MAIL_MODE === "capture" ? platformSender : null),
    PRIVATE_NAME: read.MAIL_HOSTNAME === null && !isPublicName(mailHostname) ? mailHostname : null,
  };
}

/** Whether the name is below a top-level domain of the world's DNS. */
function isPublicName(name: string): boolean {
  const { isIcann, domain } = parse(name);
  return isIcann === true && domain !== null;
}

/** Null for an address, and for localhost: nothing elsewhere can be an alias of them. */
function hostNameOf(url: URL | null): string | null {
  const host = url?.hostname ?? "";
  return host.includes(".") && HOST_NAME.test(host) ? host : null;
}

/** Machines may be called what no host is called; then nobody would believe the name anyway. */
function machineName(): string {
  return HOST_NAME.test(hostname()) ? hostname() : "localhost";
}
