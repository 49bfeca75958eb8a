/**
 * The addresses in a mail that lead back to us, and the tokens in them: which mail, whose, under a keyed MAC. Nobody
 * can make one or alter one, and a token for one thing is none for another: who sees the links of a mail cannot
 * unsubscribe its recipient by them. Tokens have no expiry of their own; they mean something as long as the mail is in
 * the log.
 *
 *     base64url( workspace id 16 | message id 16 | MAC 10 )   = 56 characters
 *
 * 42 octets fill their base64 to the last bit, so that a token has exactly one spelling. The MACs of all purposes are
 * slices of one HMAC-SHA-512 (RFC 2104), so that a mail costs one computation however many links it has. A link's index is
 * not under the MAC: whichever it is, it leads where a link of the same campaign leads, or nowhere. A link that carries
 * where it leads has that behind its index, under a MAC of mail, index and target:
 *
 *     base64url( MAC 15 | target )
 *
 * The address of the web view carries, behind the token and a dot, what the mail shows of its recipient. It is encrypted
 * with a key of this mail, which is another slice of the HMAC: templates also read values that they do not show.
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

/** One mail to one person. */
export interface TrackedMail {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
}

/** The addresses of one mail, unescaped, as rendering takes them. */
export interface MailLinks extends LinkAddresses {
  /** The page that asks, and the address of the one-click POST (RFC 8058). */
  readonly unsubscribe: string;
  /** The mail in the browser. */
  readonly view: string;
  /** Who writes there leaves as well; where we receive no mail there is none. */
  readonly unsubscribeMail?: string;
}

/** The addresses of a mail that goes out. */
export interface OutgoingLinks extends MailLinks {
  /** The address of the web view that carries these values, which fit into it (fitsView). */
  viewWith(values: string): string;
}

export type LinkPurpose = "open" | "click" | "unsubscribe" | "view";

/** Where each purpose's MAC begins in the HMAC's 64 octets. */
const slices: Readonly<Record<LinkPurpose, number>> = { open: 0, click: 10, unsubscribe: 20, view: 30 };
/** Where the key of the web view's values begins; it takes the last 24 octets. */
const VALUES_KEY = 40;
/** The first part of each address's path. */
export const paths: Readonly<Record<LinkPurpose, string>> = {
  open: "/o/",
  click: "/c/",
  unsubscribe: "/u/",
  view: "/v/",
};
export const PIXEL_ENDING = ".gif";
/** Between the token of a web view and the values that the address carries. */
const VALUES_MARK = ".";

const IDS_OCTETS = 32;
const MAC_OCTETS = 10;
const CARRIED_MAC_OCTETS = 15;
/** A longer one is not led by way of us: servers and mail programs end addresses at some 8,000 characters. */
const LONGEST_CARRIED = 4_000;
/** Of the values in the address of a web view: some programs end addresses at 2,083 characters. */
const LONGEST_VALUES = 1_200;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const VALUES_CIPHER = "aes-192-gcm";
const TOKEN = /^[\w-]{56}$/;

/** The keys that sign these links and nothing else. */
export function mailLinkKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("links in mails");
}

/**
 * @param base where people reach us, without a slash at its end: a tracking domain, or PUBLIC_URL
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

/** In place of a token, in a test mail, which is of no campaign and has no recipient. */
export const TEST_TOKEN = "test";

/** The addresses of a test mail: pages that say what those of the real one do, and links that lead where they say. */
export function testLinks(base: string): MailLinks {
  return {
    unsubscribe: base + paths.unsubscribe + TEST_TOKEN,
    view: base + paths.view + TEST_TOKEN,
    pixel: null,
    tracked: (_index, target) => target,
  };
}

/** Where a link that carries it leads; null when it was not made with this key for this mail and index. */
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

/** The mail of a web view's address, and the values that it carries: null where it carries none. Null for no such address. */
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

/** The address that unsubscribes by mail: the same token as in the link. */
export function unsubscribeMailbox({ unsubscribe }: MailLinks, bounceDomain: string): string {
  return `u+${unsubscribe.slice(unsubscribe.lastIndexOf("/") + 1)}@${bounceDomain}`;
}

/** The mail that a token stands for, or null when it was not made with this key for this purpose. */
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

/** The slices do not overlap: none says anything about another. */
function macFor(mac: Buffer, purpose: LinkPurpose): Buffer {
  return mac.subarray(slices[purpose], slices[purpose] + MAC_OCTETS);
}

function macOf(ids: Buffer, key: KeyObject): Buffer {
  return createHmac("sha512", key).update(ids).digest();
}

/** What it is made of is longer than that of the other MACs: none of those is one of these. */
function carriedMac(ids: Buffer, index: number, target: Buffer, key: KeyObject): Buffer {
  const made = createHmac("sha512", key).update(ids).update(`${index} `).update(target).digest();
  return made.subarray(0, CARRIED_MAC_OCTETS);
}
