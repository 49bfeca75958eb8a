/**
 * A real OpenID provider (the certified package oidc-provider) on a free port of this machine, with a browser that signs in
 * there. A test can make it answer late, wrongly or not at all.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { afterAll } from "vitest";

const SCOPES = "openid email profile";
const SECRET = "the secret of a client that only tests use";
/** More redirects than a sign-in has. */
const MOST_REDIRECTS = 10;

/** Claims of an account besides its subject. */
export interface TestClaims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface TestOpenIdProvider {
  readonly issuer: string;
  /** Settings that point a service to the provider. */
  readonly env: Readonly<Record<string, string>>;
  /** Adds an account, or changes its claims. A real browser signs in with the last one. @returns its subject */
  account(claims: TestClaims, subject?: string): string;
  /** Signs in on the page of `url` as a browser does. @returns the URL to which the provider sends the browser */
  signIn(url: string, subject: string): Promise<URL>;
  /** A code of another client of the provider, exchanged for its tokens. */
  tokensOfOtherClient(nonce: string, subject: string): Promise<Readonly<Record<string, unknown>>>;
  /** Answers requests for these paths in place of the provider; null ends it. */
  intercept(answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | null): void;
  /** Requests so far, by path. */
  readonly asked: readonly string[];
}

type Interception = Parameters<TestOpenIdProvider["intercept"]>[0];

/**
 * @param hasClaimsInToken whether the ID token has the address; otherwise only the UserInfo endpoint has it
 * @param hasAuthTime whether the ID token says when the person signed in, also when it was not asked for
 * @param redirectUri of the client; by default that of a service on any port of 127.0.0.1
 */
export async function startOpenIdProvider({
  hasClaimsInToken = false,
  hasAuthTime = true,
  redirectUri,
}: {
  readonly hasClaimsInToken?: boolean;
  readonly hasAuthTime?: boolean;
  readonly redirectUri?: string;
} = {}): Promise<TestOpenIdProvider> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, TestClaims>();
  const provider: Provider = new Provider(issuer, {
    // A client of a loopback address may use any port (RFC 8252 section 7.3).
    clients: ["posthaste", "other"].map((client_id) => ({
      client_id,
      client_secret: SECRET,
      application_type: redirectUri === undefined ? "native" : "web",
      require_auth_time: hasAuthTime,
      redirect_uris: [redirectUri ?? "http://127.0.0.1/single-sign-on/finish"],
    })),
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    conformIdTokenClaims: !hasClaimsInToken,
    cookies: { keys: [randomBytes(16).toString("hex")] },
    features: { devInteractions: { enabled: false } },
    jwks: {
      keys: [{ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }) }],
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...accounts.get(accountId) }),
    }),
    async loadExistingGrant({
      oidc,
    }: {
      oidc: { client: { clientId: string }; session: { accountId: string } };
    }) {
      const { clientId } = oidc.client;
      const grant = new provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const asked: string[] = [];
  let interception: Interception = null;
  server.on("request", (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    asked.push(pathname);
    if (interception?.(request, response)) return;
    if (!pathname.startsWith("/interaction/")) {
      handle(request, response);
      return;
    }
    const accountId = searchParams.get("as") ?? [...accounts.keys()].at(-1) ?? "";
    provider
      .interactionFinished(request, response, { login: { accountId }, consent: {} })
      .catch((fault: unknown) => {
        response.writeHead(500).end(String(fault));
      });
  });

  async function signIn(url: string, subject: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let next = new URL(url);
    for (let redirects = 0; redirects < MOST_REDIRECTS; redirects += 1) {
      if (next.origin !== issuer) return next;
      if (next.pathname.startsWith("/interaction/")) next.searchParams.set("as", subject);
      const response = await fetch(next, {
        redirect: "manual",
        headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      });
      const location = response.headers.get("location");
      if (location === null)
        throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      next = new URL(location, next);
    }
    throw new Error("the provider redirects without end");
  }

  return {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: "posthaste",
      OIDC_CLIENT_SECRET: SECRET,
      OIDC_NAME: "Acme ID",
    },
    account(claims, subject = randomBytes(8).toString("hex")) {
      // The last one is the one that was named last.
      accounts.delete(subject);
      accounts.set(subject, claims);
      return subject;
    },
    signIn,
    async tokensOfOtherClient(nonce, subject) {
      const verifier = "a verifier with as many characters as RFC 7636 wants".replaceAll(" ", "-");
      const challenge = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(verifier))).toString(
        "base64url",
      );
      const redirect_uri = "http://127.0.0.1/single-sign-on/finish";
      const query = {
        client_id: "other",
        redirect_uri,
        scope: SCOPES,
        response_type: "code",
        nonce,
        code_challenge: challenge,
        code_challenge_method: "S256",
      };
      const { searchParams } = await signIn(
        `${issuer}/auth?${new URLSearchParams(query).toString()}`,
        subject,
      );
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: {
          Authorization: `Basic ${btoa(`other:${encodeURIComponent(SECRET).replaceAll("%20", "+")}`)}`,
        },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code: searchParams.get("code") ?? "",
          redirect_uri,
          code_verifier: verifier,
        }),
      });
      const tokens: unknown = await response.json();
      return tokens as Readonly<Record<string, unknown>>;
    },
    intercept(answer) {
      interception = answer;
    },
    asked,
  };
}
