/**
 * The OpenID provider of the installation (OpenID Connect Core 1.0): the URL of its sign-in page, and the account that it
 * vouches for. Code flow with PKCE (RFC 7636), state and nonce. Every answer has a deadline and a size limit.
 */
import type { Configuration, CustomFetchOptions } from "openid-client";
import type { Clock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { isLoopbackHost } from "#platform/config/setting-readers.ts";
import { inTime } from "#platform/in-time.ts";
import { fetchFault, readResponseText } from "#platform/network/read-response.ts";
import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import { type ProviderAccount, readAccount } from "./provider-account.ts";
import { faultOf, ProviderFault } from "./provider-fault.ts";

const SCOPE = "openid email profile";
/** Of one request to the provider. */
const REQUEST_SECONDS = 5;
/** Of all requests of one step. */
const STEP_MS = 10_000;
const MOST_OCTETS = 1024 * 1024;
/** Clocks of the two machines may differ by this. */
export const TOLERANCE_SECONDS = 30;
/** The provider's metadata are read again after this time; when that fails, the known ones stay in use. */
const METADATA_MS = HOUR_MS;
const RETRY_MS = MINUTE_MS;

/** What ties a sign-in at the provider to the browser that began it. */
export interface SignOnProof {
  /** Comes back with the code (RFC 6749 section 10.12). */
  readonly state: string;
  /** Comes back in the ID token. */
  readonly nonce: string;
  /** Proves at the exchange of the code that we have asked for it (RFC 7636). */
  readonly verifier: string;
}

type OpenIdSettings = Pick<
  Config,
  "OIDC_ISSUER" | "OIDC_CLIENT_ID" | "OIDC_CLIENT_SECRET" | "OIDC_NAME" | "OIDC_ROLE_CLAIM"
>;

/** The provider of the configuration; null without one. It is asked when it is needed first. */
export function openIdProviderOf(config: OpenIdSettings, clock: Clock): OpenIdProvider | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config;
  return issuer === null || clientId === null ? null : new OpenIdProvider(config, issuer, clientId, clock);
}

export class OpenIdProvider {
  /** The operator's name of the provider. */
  readonly name: string;
  readonly #issuer: URL;
  readonly #clientId: string;
  readonly #clientSecret: string | null;
  readonly #roleClaim: string | null;
  readonly #clock: Clock;
  #known: { readonly configuration: Configuration; readonly renewAtMs: number } | null = null;
  /** Shared by all requests that wait for the metadata. */
  #discovery: Promise<Configuration> | null = null;

  constructor(settings: OpenIdSettings, issuer: URL, clientId: string, clock: Clock) {
    this.name = settings.OIDC_NAME;
    this.#issuer = issuer;
    this.#clientId = clientId;
    this.#clientSecret = settings.OIDC_CLIENT_SECRET;
    this.#roleClaim = settings.OIDC_ROLE_CLAIM;
    this.#clock = clock;
  }

  /**
   * The URL of the provider's sign-in page.
   * @param asksAgain the provider shall ask for the password although its own session is valid
   * @throws ProviderFault "unavailable"
   */
  signInUrl(proof: SignOnProof, redirectUri: string, asksAgain: boolean): Promise<URL> {
    return this.#step(async () => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library();
      const url = buildAuthorizationUrl(await this.#configuration(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: proof.state,
        nonce: proof.nonce,
        code_challenge: await calculatePKCECodeChallenge(proof.verifier),
        code_challenge_method: "S256",
        // Core 1.0 section 3.1.2.1: with max_age, the ID token has auth_time.
        ...(asksAgain && { prompt: "login", max_age: "0" }),
      });
      requireSafe(url);
      return url;
    });
  }

  /**
   * Exchanges the code of an answer for the account. Checks state, issuer, nonce, audience, times and signature.
   * @param answer the URL to which the provider sent the browser
   * @throws ProviderFault
   */
  accountOf(answer: URL, proof: SignOnProof): Promise<ProviderAccount> {
    return this.#step(async () => {
      const { authorizationCodeGrant, fetchUserInfo } = await library();
      const configuration = await this.#configuration();
      const tokens = await authorizationCodeGrant(configuration, answer, {
        expectedState: proof.state,
        expectedNonce: proof.nonce,
        pkceCodeVerifier: proof.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new ProviderFault("invalid", "the answer has no ID token");
      // Many providers put the address into the ID token; the others tell it at their UserInfo endpoint.
      const isWhole = claims["email"] !== undefined && this.#roleClaim === null;
      const more =
        isWhole || configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return readAccount(claims, more, this.#roleClaim);
    });
  }

  async #step<Result>(work: () => Promise<Result>): Promise<Result> {
    const { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } = await library();
    const kinds = { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError };
    const late = () => new ProviderFault("unavailable", `no answer within ${STEP_MS / 1_000} s`);
    try {
      return await inTime(STEP_MS, work(), late);
    } catch (fault) {
      throw faultOf(fault, kinds);
    }
  }

  async #configuration(): Promise<Configuration> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#known !== null && nowMs < this.#known.renewAtMs) return this.#known.configuration;
    this.#discovery ??= this.#discover().finally(() => {
      this.#discovery = null;
    });
    const known = this.#known?.configuration;
    try {
      const configuration = await this.#discovery;
      this.#known = { configuration, renewAtMs: nowMs + METADATA_MS };
      return configuration;
    } catch (fault) {
      if (known === undefined) throw fault;
      this.#known = { configuration: known, renewAtMs: nowMs + RETRY_MS };
      return known;
    }
  }

  /** @throws ProviderFault "unavailable" for every fault: the provider or the settings must be mended */
  async #discover(): Promise<Configuration> {
    const {
      allowInsecureRequests,
      ClientSecretBasic,
      ClientSecretPost,
      clockTolerance,
      customFetch,
      discovery,
      enableNonRepudiationChecks,
      None,
    } = await library();
    const secret = this.#clientSecret;
    const isInsecure = this.#issuer.protocol === "http:";
    try {
      return await discovery(
        this.#issuer,
        this.#clientId,
        { [clockTolerance]: TOLERANCE_SECONDS },
        (server, ...given) => {
          // RFC 8414 section 2: client_secret_basic is what a provider supports that names no method.
          const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
          const method =
            secret === null
              ? None()
              : methods.includes("client_secret_basic")
                ? ClientSecretBasic(secret)
                : ClientSecretPost(secret);
          method(server, ...given);
        },
        {
          timeout: REQUEST_SECONDS,
          [customFetch]: fetchLimited,
          // The signature of an ID token is checked although it comes over TLS from the provider itself.
          execute: [enableNonRepudiationChecks, ...(isInsecure ? [allowInsecureRequests] : [])],
        },
      );
    } catch (fault) {
      if (fault instanceof ProviderFault) throw fault;
      const message = fault instanceof Error ? fault.message : String(fault);
      throw new ProviderFault("unavailable", `its metadata cannot be read: ${message}`);
    }
  }
}

/** The library, imported with the first sign-in, because most processes never need it. */
function library(): Promise<typeof import("openid-client")> {
  return import("openid-client");
}

/** @throws ProviderFault unless the URL is HTTPS or of this machine */
function requireSafe(url: URL): void {
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname))) return;
  throw new ProviderFault("unavailable", `its metadata name a URL without HTTPS: ${url.origin}`);
}

/** @throws ProviderFault "unavailable" without an answer, and for 429 and 5xx */
async function fetchLimited(address: string, options: CustomFetchOptions): Promise<Response> {
  const url = new URL(address);
  requireSafe(url);
  const { body, ...others } = options;
  const where = `${url.origin}${url.pathname}`;
  try {
    const response = await fetch(url, { ...others, body: body ?? null });
    const { status, headers } = response;
    const { text, isWhole } = await readResponseText(response, MOST_OCTETS);
    if (!isWhole)
      throw new ProviderFault("unavailable", `${where} answered with more than ${MOST_OCTETS} octets`);
    if (status === 429 || status >= 500)
      throw new ProviderFault("unavailable", `${where} answered ${status}`);
    return new Response(text === "" ? null : text, { status, headers });
  } catch (fault) {
    if (fault instanceof ProviderFault) throw fault;
    throw new ProviderFault("unavailable", `${where}: ${fetchFault(fault)}`);
  }
}
