/** Settings and the readers that parse them. A reader rejects invalid text with a sentence that says what is valid. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { type CountryCode, isSupportedCountry } from "libphonenumber-js";
import { readDatabaseAddress } from "#platform/database/servers/database-address.ts";
import { isDnsServer } from "#platform/dns-server-address.ts";
import { parseRing, type SecretKeyRing } from "#platform/secrets/key-ring.ts";

/** @throws ConfigError whose message continues after the name of the setting: "must be …" */
export type Reader<Value> = (text: string) => Value;

export interface Setting<Value> {
  readonly default: string;
  readonly read: Reader<Value>;
  readonly about: string;
  /** Never shown by `posthaste config`. */
  readonly secret?: true;
}

/** Declares a setting and keeps the type of its value. */
export const setting = <Value>(definition: Setting<Value>): Setting<Value> => definition;

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Invalid configuration, one line a fault. The process prints it and exits. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export const text: Reader<string> = (value) => value;
export const optionalText: Reader<string | null> = (value) => (value === "" ? null : value);
/** RFC 1123 section 2.1; a name whose last label is a number would be an IP address. */
export const HOST_NAME =
  /^(?=.{1,253}$)(?!.*\.\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
export const optionalHostName: Reader<string | null> = (value) => {
  if (value !== "" && !HOST_NAME.test(value))
    throw new ConfigError("must be a host name such as mail.example.com");
  return optionalText(value);
};
export const list: Reader<string[]> = (value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

export const networks: Reader<string[]> = (value) =>
  list(value).map((network) => {
    const [address = "", prefix = "0", ...rest] = network.split("/");
    const longest = { 4: 32, 6: address.includes("%") ? -1 : 128 }[isIP(address)] ?? -1;
    if (rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > longest) {
      throw new ConfigError(
        "must be addresses or networks such as 198.51.100.7 or 2001:db8::/64, separated by commas",
      );
    }
    return network;
  });

export const integer =
  (least: number, most: number): Reader<number> =>
  (value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < least || number > most) {
      throw new ConfigError(`must be a whole number from ${least} to ${most}`);
    }
    return number;
  };

/** Above 0 and up to 100, with up to four decimals. */
export const percentSetting: Reader<number> = (value) => {
  const number = Number(value);
  if (!/^\d{1,3}(?:\.\d{1,4})?$/.test(value) || number <= 0 || number > 100) {
    throw new ConfigError("must be a percentage such as 10 or 0.5, above 0 and up to 100");
  }
  return number;
};

/** A port to listen on; 0: any free port. */
export const port = integer(0, 65_535);
/** A port of another host. */
export const remotePort = integer(1, 65_535);
const days = integer(1, 3_650);
/** An empty value is the default, so that no end has a word. */
export const daysOrForever: Reader<number | null> = (value) => (value === "forever" ? null : days(value));
export const optionalDays: Reader<number | null> = (value) => (value === "" ? null : days(value));
export const optionalPort: Reader<number | null> = (value) => (value === "" ? null : port(value));

export const flag: Reader<boolean> = (value) => {
  if (value === "true" || value === "1") return true;
  if (value === "false" || value === "0") return false;
  throw new ConfigError("must be true or false");
};

export const oneOf =
  <const Word extends string>(...words: Word[]): Reader<Word> =>
  (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new ConfigError(`must be one of ${words.join(", ")}`);
    return word;
  };

export const rateLimit: Reader<RateLimit | null> = (value) => {
  if (value === "off") return null;
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(value);
  const [perSecond, burst] = [Number(match?.[1]), Number(match?.[2])];
  if (!(perSecond > 0 && burst >= perSecond)) {
    throw new ConfigError("must be off, or requests-per-second/burst such as 100/200");
  }
  return { perSecond, burst };
};

export const optionalUrl =
  (...protocols: string[]): Reader<URL | null> =>
  (value) => {
    if (value === "") return null;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new ConfigError(
        `must be a URL beginning with ${protocols.map((name) => `${name}//`).join(" or ")}`,
      );
    }
    return new URL(value);
  };

/** The primary of a database, with one host or several. */
export const optionalDatabaseUrl: Reader<string | null> = (value) => {
  if (value === "") return null;
  try {
    readDatabaseAddress(value);
  } catch (fault) {
    throw new ConfigError((fault as Error).message);
  }
  return value;
};

/** One server, which may be a standby. */
export const optionalReplicaUrl: Reader<string | null> = (value) => {
  const url = optionalDatabaseUrl(value);
  if (url !== null && readDatabaseAddress(url).mustWrite)
    throw new ConfigError("must name one server, without target_session_attrs");
  return url;
};

/** The issuer of an OpenID provider: without HTTPS, its answers could be forged on the way. */
export const optionalIssuer: Reader<URL | null> = (value) => {
  if (value === "") return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const isOfThisMachine = url !== null && isLoopbackHost(url.hostname);
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && isOfThisMachine))) {
    throw new ConfigError("must be a URL beginning with https://; http:// is allowed for this machine only");
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new ConfigError("must be a URL without user name, query and fragment");
  }
  return url;
};

/** Whether the `hostname` of a URL is this machine: localhost or a loopback address, which URLs have in its normal form. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export const domainNames: Reader<readonly string[]> = (value) => {
  const domains = list(value).map((domain) => domain.toLowerCase());
  const wrong = domains.find((domain) => !HOST_NAME.test(domain));
  if (wrong !== undefined)
    throw new ConfigError(`must be domains such as example.com, but "${wrong}" is none`);
  return domains;
};

/** Owners are made by the command line and by other owners. */
const GIVEN_ROLES = ["admin", "marketer", "editor", "developer", "support", "analyst", "billing"] as const;
const givenRole = oneOf(...GIVEN_ROLES);
export const optionalRole: Reader<(typeof GIVEN_ROLES)[number] | null> = (value) =>
  value === "" ? null : givenRole(value);

/** `group=role,group=role`; a group may contain "=". */
export const rolesOfGroups: Reader<readonly (readonly [group: string, role: string])[]> = (value) =>
  list(value).map((pair) => {
    const end = pair.lastIndexOf("=");
    const [group, role] = [pair.slice(0, Math.max(0, end)).trim(), pair.slice(end + 1).trim()];
    if (group === "" || !GIVEN_ROLES.some((known) => known === role)) {
      throw new ConfigError(
        `must be pairs such as marketing=marketer, with one of the roles ${GIVEN_ROLES.join(", ")}`,
      );
    }
    return [group, role];
  });

export const optionalCountry: Reader<CountryCode | null> = (value) => {
  if (value === "") return null;
  if (!isSupportedCountry(value)) throw new ConfigError("must be a country of two letters such as DE");
  return value;
};

export const servers: Reader<string[]> = (value) =>
  list(value).map((server) => {
    if (!isDnsServer(server)) {
      throw new ConfigError(
        "must be addresses such as 192.0.2.53:53 or [2001:db8::53]:53, separated by commas",
      );
    }
    return server;
  });

export const optionalServer: Reader<string | null> = (value) => {
  if (value !== "" && !(isDnsServer(value) && /^(\[[0-9a-f:]+\]|[0-9.]+):\d{1,5}$/i.test(value))) {
    throw new ConfigError("must be an address with its port such as 127.0.0.1:53 or [::1]:53");
  }
  return optionalText(value);
};

export const bootstrapKey: Reader<string | null> = (value) => {
  if (value !== "" && !/^efk_[\w-]{16,128}$/.test(value)) {
    throw new ConfigError("must be efk_ followed by 16 to 128 letters, digits, - or _, chosen at random");
  }
  return optionalText(value);
};

export const accessToken: Reader<string | null> = (value) => {
  if (value !== "" && !/^[\w.~+/=-]{16,256}$/.test(value)) {
    throw new ConfigError("must be 16 to 256 letters, digits or . _ ~ + / = -, chosen at random");
  }
  return optionalText(value);
};

export const bareAddress: Reader<string | null> = (value) => {
  if (value !== "" && !/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(value)) {
    throw new ConfigError("must be a bare address such as hello@example.com");
  }
  return optionalText(value);
};

export const secretKeys: Reader<SecretKeyRing | null> = (value) => {
  if (value === "") return null;
  try {
    return parseRing(value);
  } catch (cause) {
    throw new ConfigError(messageOf(cause));
  }
};

/** One domain a line; lines that start with # are comments. */
export const domainsFile: Reader<readonly string[]> = (path) => {
  if (path === "") return [];
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").split("\n");
  } catch (cause) {
    throw new ConfigError(`must name a readable file (${messageOf(cause)})`);
  }
  const domains = lines.map((line) => line.trim().toLowerCase()).filter((line) => !/^(#|$)/.test(line));
  const wrong = domains.find((domain) => !HOST_NAME.test(domain));
  if (wrong !== undefined)
    throw new ConfigError(`must contain one domain a line, but "${wrong}" is not a domain`);
  return domains;
};

export const jsonFile: Reader<unknown> = (path) => {
  if (path === "") return null;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new ConfigError(`must name a readable JSON file (${messageOf(cause)})`);
  }
};

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
