/**
 * The tokens in the URLs of sign-up forms and of confirmation links: the workspace, and the form or the request, signed
 * (platform/secrets/signed-token.ts). Each kind has its own key, so that a token of one kind is not valid as the other.
 *
 *     base64url( workspace id 16 | list or request id 16 | MAC 16 )   = 64 characters
 */
import { type KeyObject, randomBytes } from "node:crypto";
import { asWorkspaceId, idAt, octetsOfIds, type WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";
import { readSignedToken, signToken } from "#platform/secrets/signed-token.ts";
import { HOUR_MS } from "#platform/time-units.ts";

export interface SignupLink {
  readonly workspaceId: WorkspaceId;
  /** The id of the mailing list for a form, of the request for a confirmation. */
  readonly id: string;
}

const UUID_OCTETS = 16;
const linkFormat = { contentOctets: 2 * UUID_OCTETS, macOctets: 16 };

export function signupKeys(secrets: Secrets) {
  return {
    form: secrets.derive("sign-up forms"),
    page: secrets.derive("sign-up form pages"),
    confirmation: secrets.derive("sign-up confirmations"),
  };
}

export function signSignupLink({ workspaceId, id }: SignupLink, key: KeyObject): string {
  return signToken(linkFormat, octetsOfIds(workspaceId, id), key);
}

/** The link of a token; null when it was not signed with this key. */
export function readSignupLink(token: string, key: KeyObject): SignupLink | null {
  const content = readSignedToken(linkFormat, token, key);
  return content && { workspaceId: asWorkspaceId(idAt(content, 0)), id: idAt(content, UUID_OCTETS) };
}

/** A form that is sent sooner after it was served was not filled in by a person. */
const EARLIEST_MS = 2_000;
const LATEST_MS = 12 * HOUR_MS;

const TIME_OCTETS = 6;
const formFormat = { contentOctets: TIME_OCTETS + 8, macOctets: 16 };

/**
 * The token in a sign-up form as it was served: which form, and when. A program that posts to a form has to load it first,
 * wait as a person would, and load it again for every few addresses. The token is signed together with the form's ids
 * (platform/secrets/signed-token.ts).
 *
 *     base64url( milliseconds since 1970 6 | random 8 | MAC 16 )   = 40 characters
 */
export type FormToken =
  /** `page` identifies the served page, to count what is sent from it. */
  { readonly state: "good" | "early"; readonly page: string } | { readonly state: "unknown" };

export function signFormToken(form: SignupLink, key: KeyObject, now: Date): string {
  const content = randomBytes(formFormat.contentOctets);
  content.writeUIntBE(now.getTime(), 0, TIME_OCTETS);
  return signToken(formFormat, content, key, contextOf(form));
}

/** `unknown`: signed for another form, more than 12 hours ago, or not by this service. */
export function readFormToken(token: string, form: SignupLink, keys: PurposeKeys, now: Date): FormToken {
  const content = keys.read((key) => readSignedToken(formFormat, token, key, contextOf(form)));
  const age =
    content === null ? Number.POSITIVE_INFINITY : now.getTime() - content.readUIntBE(0, TIME_OCTETS);
  if (content === null || age > LATEST_MS) return { state: "unknown" };
  return { state: age < EARLIEST_MS ? "early" : "good", page: content.toString("base64url") };
}

const contextOf = ({ workspaceId, id }: SignupLink) => octetsOfIds(workspaceId, id);
