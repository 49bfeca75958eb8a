/**
 * Reads SMS_GATEWAY_URL: `smpp://system_id:password@host:2775?source=Name` (smpps for TLS), or
 * `https://:secret@host/path#source=Name`. The query of an HTTP address belongs to the gateway, so our options are in the
 * fragment.
 */

interface Common {
  /** Identifies the gateway: ids of messages are unique per gateway. */
  readonly name: string;
  readonly host: string;
  /** The sender: a number, or up to 11 letters and digits. */
  readonly source: string;
  readonly window: number;
  readonly perSecond: number | null;
  /** Whether the gateway sends delivery receipts. */
  readonly hasReceipts: boolean;
}

export interface SmppSettings extends Common {
  readonly kind: "smpp";
  readonly port: number;
  readonly isTls: boolean;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  /** True: receipts have decimal ids, although answers have hexadecimal ones. */
  readonly isReceiptIdDecimal: boolean;
}

export interface HttpSettings extends Common {
  readonly kind: "http";
  readonly url: string;
  readonly secret: string | null;
}

const SMPP_PORT = 2_775;
const SMPPS_PORT = 3_550;
const WINDOW = 10;
const MOST_IN_WINDOW = 500;
const SOURCE = /^(?:\+?\d{3,15}|[A-Za-z0-9 ._&-]{1,11})$/;
const common = ["source", "window", "per_second", "receipts"];

/** @throws an Error for the operator that names the invalid option */
export function readGateway(url: URL): SmppSettings | HttpSettings {
  return url.protocol.startsWith("smpp") ? readSmpp(url) : readHttp(url);
}

function readSmpp(url: URL): SmppSettings {
  const given = url.searchParams;
  refuseUnknown(given, [...common, "system_type", "receipt_id"]);
  const isTls = url.protocol === "smpps:";
  const [systemId, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  // SMPP 3.4 section 5.2: 15 and 8 characters.
  if (systemId === "" || systemId.length > 15) throw fault("needs a system_id of 1 to 15 characters");
  if (password.length > 8) throw fault("takes a password of at most 8 characters");
  const receiptId = given.get("receipt_id") ?? "same";
  if (receiptId !== "same" && receiptId !== "decimal") throw fault("takes receipt_id=same or decimal");
  return {
    kind: "smpp",
    ...readCommon(given, true),
    name: `smpp ${systemId}@${url.hostname}`,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isTls ? SMPPS_PORT : SMPP_PORT) : Number(url.port),
    isTls,
    systemId,
    password,
    systemType: given.get("system_type") ?? "",
    isReceiptIdDecimal: receiptId === "decimal",
  };
}

function readHttp(url: URL): HttpSettings {
  const given = new URLSearchParams(url.hash.slice(1));
  refuseUnknown(given, common);
  const bare = new URL(url);
  bare.hash = bare.username = bare.password = "";
  return {
    kind: "http",
    ...readCommon(given, false),
    name: `http ${url.host}`,
    host: url.hostname,
    url: bare.href,
    secret: decodeURIComponent(url.password) || null,
  };
}

function readCommon(given: URLSearchParams, usuallyTells: boolean) {
  const source = given.get("source") ?? "";
  if (!SOURCE.test(source)) throw fault("needs source=, a number or up to 11 letters and digits");
  const receipts = given.get("receipts") ?? String(usuallyTells);
  if (receipts !== "true" && receipts !== "false") throw fault("takes receipts=true or false");
  return {
    source,
    window: readCount(given, "window", MOST_IN_WINDOW) ?? WINDOW,
    perSecond: readCount(given, "per_second", 10_000),
    hasReceipts: receipts === "true",
  };
}

function readCount(given: URLSearchParams, name: string, most: number): number | null {
  const text = given.get(name);
  if (text === null) return null;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > most) throw fault(`takes ${name}=1 to ${most}`);
  return count;
}

function refuseUnknown(given: URLSearchParams, known: readonly string[]): void {
  for (const name of given.keys()) if (!known.includes(name)) throw fault(`has an unknown option ${name}=`);
}

function fault(problem: string): Error {
  return new Error(`SMS_GATEWAY_URL ${problem}`);
}
