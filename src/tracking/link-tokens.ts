/**
 * The links in a mail that lead to this service, and their tokens, which name the mail and its workspace under a keyed MAC.
 * Tokens cannot be forged or altered, and a token is valid for one purpose only: the token of a click link cannot
 * unsubscribe. Tokens do not expire; they are valid as long as the mail is in the log.
 *
 *     base64url( workspace id 16 | message id 16 | MAC 10 )   = 56 characters
 *
 * 42 octets fill their base64 to the last bit, so a token has exactly one spelling. The MACs of all purposes are slices of
 * one HMAC-SHA-512 (RFC 2104), so a mail costs one computation, however many links it has. The index of a link is not under
 * the MAC: another index leads to another link of the same campaign, or to none. A link that carries its target has it after
 * the index, under a MAC of mail, index and target:
 *
 *     base64url( MAC 15 | target )
 *
 * The address of the web view carries, after the token and a dot, the values of the recipient that the mail shows. They are
 * encrypted with a key of this mail, another slice of the HMAC, because they may include values that the mail does not show:
 *
 *     base64url( nonce 12 | AES-192-GCM of the values | tag 16 )
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { LinkAddresses } from "#mail/merge-tags/liquid-engine.ts";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";

/** One mail to one recipient. */
export interface TrackedMail {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
}

/** The links of one mail, unescaped, as the renderer takes them. */
export interface MailLinks extends LinkAddresses {
  /** The unsubscribe page, and the address of the one-click POST (RFC 8058). */
  readonly unsubscribe: string;
  /** The web view. */
  readonly view: string;
  /** Mail to this address unsubscribes, too; missing when we receive no mail. */
  readonly unsubscribeMail?: string;
}

/** The links of a mail being sent. */
export interface OutgoingLinks extends MailLinks {
  /** The address of the web view that carries these values; they must fit (fitsView). */
  viewWith(values: string): string;
}

export type LinkPurpose = "open" | "click" | "unsubscribe" | "view";

/** The offset of each purpose's MAC in the 64 octets of the HMAC. */
const slices: Readonly<Record<LinkPurpose, number>> = { open: 0, click: 10, unsubscribe: 20, view: 30 };
/** The offset of the key of the web view's values, which is the last 24 octets. */
const VALUES_KEY = 40;
/** The path prefix of each purpose. */
export const paths: Readonly<Record<LinkPurpose, string>> = {
  open: "/o/",
  click: "/c/",
  unsubscribe: "/u/",
  view: "/v/",
};
export const PIXEL_ENDING = ".gif";
/** Separates the token of a web view from the carried values. */
const VALUES_MARK = ".";

const IDS_OCTETS = 32;
const MAC_OCTETS = 10;
const CARRIED_MAC_OCTETS = 15;
/** A link with a longer target is not tracked: servers and mail programs limit addresses to about 8,000 characters. */
const LONGEST_CARRIED = 4_000;
/** Octets of the values in the address of a web view: some programs limit addresses to 2,083 characters. */
const LONGEST_VALUES = 1_200;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const VALUES_CIPHER = "aes-192-gcm";
const TOKEN = /^[\w-]{56}$/;

/** The keys of these tokens. */
export function mailLinkKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("links in mails");
}

/**
 * @param base a tracking domain or PUBLIC_URL, without a trailing slash
 */
export function mailLinks(mail: TrackedMail, base: string, key: KeyObject) {
  const ids = octetsOfIds(mail.workspaceId, mail.messageId);
  const mac = macOf(ids, key);
  const address = (purpose: LinkPurpose) => base + paths[purpose] + tokenOf(ids, mac, purpose);
  const click = `${address("click")}/`;
  return {
    pixel: address("open") + PIXEL_ENDING,
    unsubscribe: address("unsubscribe"),
    view: address("view"),
    viewWith(values: string) {
      const nonce = randomBytes(NONCE_OCTETS);
      const cipher = createCipheriv(VALUES_CIPHER, mac.subarray(VALUES_KEY), nonce);
      const encrypted = [cipher.update(values, "utf8"), cipher.final()];
      const sealed = Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]);
      return `${address("view")}${VALUES_MARK}${sealed.toString("base64url")}`;
    },
    tracked(index: number, target = "", isPersonal = false) {
      if (!isPersonal) return click + index;
      const octets = Buffer.from(target);
      if (octets.length > LONGEST_CARRIED) return target;
      const carried = Buffer.concat([carriedMac(ids, index, octets, key), octets]);
      return `${click}${index}/${carried.toString("base64url")}`;
    },
  } satisfies OutgoingLinks;
}

/** Whether the address of a web view can carry these values. */
export function fitsView(values: string): boolean {
  return Buffer.byteLength(values) <= LONGEST_VALUES;
}

/** In place of a token in a test mail, which has no campaign and no recipient. */
export const TEST_TOKEN = "test";

/** The links of a test mail: pages that explain those of the real mail, and untracked links. */
export function testLinks(base: string): MailLinks {
  return {
    unsubscribe: base + paths.unsubscribe + TEST_TOKEN,
    view: base + paths.view + TEST_TOKEN,
    pixel: null,
    tracked: (_index, target) => target,
  };
}

/** The target that a link carries; null when it was not made with this key for this mail and index. */
export function readCarried(
  { workspaceId, messageId }: TrackedMail,
  index: number,
  carried: string,
  key: KeyObject,
): string | null {
  const octets = Buffer.from(carried, "base64url");
  const target = octets.subarray(CARRIED_MAC_OCTETS);
  if (target.length === 0 || octets.toString("base64url") !== carried) return null;
  const genuine = carriedMac(octetsOfIds(workspaceId, messageId), index, target, key);
  return timingSafeEqual(octets.subarray(0, CARRIED_MAC_OCTETS), genuine) ? target.toString() : null;
}

/** The mail of a web view's address and the values that it carries, if any; null when the address is invalid. */
export function readView(
  address: string,
  key: KeyObject,
): { readonly mail: TrackedMail; readonly values: string | null } | null {
  const [token = "", sealed, ...more] = address.split(VALUES_MARK);
  const mail = more.length === 0 ? readToken(token, "view", key) : null;
  if (mail === null) return null;
  if (sealed === undefined) return { mail, values: null };
  const values = readValues(mail, sealed, key);
  return values === null ? null : { mail, values };
}

function readValues({ workspaceId, messageId }: TrackedMail, sealed: string, key: KeyObject): string | null {
  const octets = Buffer.from(sealed, "base64url");
  if (octets.length < NONCE_OCTETS + TAG_OCTETS || octets.toString("base64url") !== sealed) return null;
  const ofMail = macOf(octetsOfIds(workspaceId, messageId), key).subarray(VALUES_KEY);
  try {
    const decipher = createDecipheriv(VALUES_CIPHER, ofMail, octets.subarray(0, NONCE_OCTETS));
    decipher.setAuthTag(octets.subarray(-TAG_OCTETS));
    const plain = decipher.update(octets.subarray(NONCE_OCTETS, -TAG_OCTETS));
    return Buffer.concat([plain, decipher.final()]).toString();
  } catch {
    return null;
  }
}

/** The address for unsubscribing by mail, with the token of the unsubscribe link. */
export function unsubscribeMailbox({ unsubscribe }: MailLinks, bounceDomain: string): string {
  return `u+${unsubscribe.slice(unsubscribe.lastIndexOf("/") + 1)}@${bounceDomain}`;
}

/**
 * The links of a mail being sent.
 * @param bounceDomain of the address that unsubscribes by mail; null when the service receives no mail
 */
export function outgoingLinks(
  mail: TrackedMail,
  base: string,
  key: KeyObject,
  bounceDomain: string | null,
): OutgoingLinks {
  const links = mailLinks(mail, base, key);
  if (bounceDomain === null) return links;
  return { ...links, unsubscribeMail: unsubscribeMailbox(links, bounceDomain) };
}

/** The mail of a token; null when the token was not made with this key for this purpose. */
export function readToken(token: string, purpose: LinkPurpose, key: KeyObject): TrackedMail | null {
  if (!TOKEN.test(token)) return null;
  const octets = Buffer.from(token, "base64url");
  const ids = octets.subarray(0, IDS_OCTETS);
  const genuine = macFor(macOf(ids, key), purpose);
  if (!timingSafeEqual(octets.subarray(IDS_OCTETS), genuine)) return null;
  return { workspaceId: asWorkspaceId(idAt(ids, 0)), messageId: idAt(ids, IDS_OCTETS / 2) };
}

function tokenOf(ids: Buffer, mac: Buffer, purpose: LinkPurpose): string {
  return Buffer.concat([ids, macFor(mac, purpose)]).toString("base64url");
}

/** The slices do not overlap, so one reveals nothing about another. */
function macFor(mac: Buffer, purpose: LinkPurpose): Buffer {
  return mac.subarray(slices[purpose], slices[purpose] + MAC_OCTETS);
}

function macOf(ids: Buffer, key: KeyObject): Buffer {
  return createHmac("sha512", key).update(ids).digest();
}

/** Its input is always longer than that of the other MACs, so no MAC is valid as another kind. */
function carriedMac(ids: Buffer, index: number, target: Buffer, key: KeyObject): Buffer {
  const made = createHmac("sha512", key).update(ids).update(`${index} `).update(target).digest();
  return made.subarray(0, CARRIED_MAC_OCTETS);
}
