/**
 * The configuration: the settings, read once at start, and values derived from them. Only main.ts reads the
 * environment.
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
  /** Sender of messages without a sender; every workspace may also name it. Null if there is none. */
  readonly DEFAULT_SENDER: string | null;
  /**
   * The name of this machine, if it is used because MAIL_HOSTNAME is not set, and is not a public DNS name; otherwise
   * null.
   */
  readonly PRIVATE_NAME: string | null;
}

/** Reads and checks every setting. @throws ConfigError that lists all faults */
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
  if (faults.length === 0) faults.push(...singleSignOnFaults(read));
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
    // In capture mode no mail leaves the machine, so any address is allowed.
    DEFAULT_SENDER: read.PLATFORM_FROM ?? (read.MAIL_MODE === "capture" ? platformSender : null),
    PRIVATE_NAME: read.MAIL_HOSTNAME === null && !isPublicName(mailHostname) ? mailHostname : null,
  };
}

/** Shorter names, such as HOST and PORT, are one letter away from names that other software uses. */
const SHORTEST_CHECKED = 6;

/**
 * Environment variables that are probably misspelled settings: one letter too many, missing or wrong, two letters swapped or
 * another case, where the setting itself is not set.
 * @returns a sentence for each, without its value, which may be a secret
 */
export function findMisspelledSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const unset = Object.keys(settings).filter((name) => name.length >= SHORTEST_CHECKED && !environment[name]);
  return Object.keys(environment)
    .filter((variable) => !(variable in settings))
    .flatMap((variable) => {
      const meant = unset.find((name) => isOneEditAway(variable.toUpperCase(), name));
      const effect = `the environment variable ${variable} is no setting and has no effect`;
      return meant === undefined ? [] : [`${effect}: is ${meant} meant?`];
    });
}

/** True also for equal names. */
function isOneEditAway(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let [oneEnd, otherEnd] = [one.length, other.length];
  while (oneEnd > start && otherEnd > start && one[oneEnd - 1] === other[otherEnd - 1]) {
    oneEnd -= 1;
    otherEnd -= 1;
  }
  const [left, right] = [one.slice(start, oneEnd), other.slice(start, otherEnd)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && `${left[1]}${left[0]}` === right;
}

/** Settings of single sign-on that do not fit together. */
function singleSignOnFaults({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CREATE_USERS: createsUsers,
  OIDC_DEFAULT_ROLE: defaultRole,
  OIDC_ROLE_CLAIM: claim,
  OIDC_ROLES: roles,
}: SettingValues): string[] {
  const faults: string[] = [];
  if ((issuer === null) !== (clientId === null)) {
    faults.push("OIDC_ISSUER and OIDC_CLIENT_ID must be set together");
  }
  if ((claim === null) !== (roles.length === 0)) {
    faults.push("OIDC_ROLE_CLAIM and OIDC_ROLES must be set together");
  }
  if (createsUsers && defaultRole === null && claim === null) {
    faults.push("OIDC_DEFAULT_ROLE or OIDC_ROLE_CLAIM must be set when OIDC_CREATE_USERS is true");
  }
  return faults;
}

/** Whether the name is below a public suffix of the ICANN section of the list. */
function isPublicName(name: string): boolean {
  const { isIcann, domain } = parse(name);
  return isIcann === true && domain !== null;
}

/** Null for an IP address and for localhost, because no CNAME can point to them. */
function hostNameOf(url: URL | null): string | null {
  const host = url?.hostname ?? "";
  return host.includes(".") && HOST_NAME.test(host) ? host : null;
}

/** If the machine's name is not a valid host name, localhost is used. */
function machineName(): string {
  return HOST_NAME.test(hostname()) ? hostname() : "localhost";
}
