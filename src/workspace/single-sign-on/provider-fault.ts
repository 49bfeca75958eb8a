/** Why a sign-in at the OpenID provider did not succeed. */
import type { AuthorizationResponseError, ResponseBodyError } from "openid-client";

/**
 * `unavailable`: the provider does not answer, or refuses this client. `cancelled`: the provider refused the person, or the
 * person went back. `invalid`: the answer is forged, used, late or meant for another client.
 */
export type ProviderFaultKind = "unavailable" | "cancelled" | "invalid";

export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  readonly kind: ProviderFaultKind;

  /** @param message for the log: it has no secrets, tokens or claims */
  constructor(kind: ProviderFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The error classes of the library, which is imported late. */
interface LibraryErrors {
  readonly AuthorizationResponseError: typeof AuthorizationResponseError;
  readonly ResponseBodyError: typeof ResponseBodyError;
  readonly WWWAuthenticateChallengeError: new (...given: never[]) => Error;
}

/** RFC 6749 sections 4.1.2.1 and 5.2: errors that are not about the person or the code. */
const ofTheProvider = new Set(["server_error", "temporarily_unavailable"]);
const ofTheCode = "invalid_grant";

/** The fault of anything that the library throws. The library's errors have claims and bodies, which are left out. */
export function faultOf(thrown: unknown, errors: LibraryErrors): ProviderFault {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFault) return cause;
  }
  if (thrown instanceof errors.AuthorizationResponseError) {
    const kind = ofTheProvider.has(thrown.error) ? "unavailable" : "cancelled";
    return new ProviderFault(kind, `the provider answered the browser with ${codeText(thrown.error)}`);
  }
  if (thrown instanceof errors.ResponseBodyError) {
    const kind = thrown.error === ofTheCode ? "invalid" : "unavailable";
    return new ProviderFault(kind, `the provider refused the code with ${codeText(thrown.error)}`);
  }
  if (thrown instanceof errors.WWWAuthenticateChallengeError) {
    return new ProviderFault("unavailable", "the provider refused OIDC_CLIENT_ID or OIDC_CLIENT_SECRET");
  }
  return new ProviderFault("invalid", thrown instanceof Error ? thrown.message : String(thrown));
}

/** Error codes are a word; anything else came from elsewhere. */
function codeText(code: string): string {
  return /^\w{1,60}$/.test(code) ? code : "an unknown error";
}
