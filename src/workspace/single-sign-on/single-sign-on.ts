/** Single sign-on: begins at the OpenID provider of the installation, and opens the session when the browser comes back. */
import { auditedAgent } from "#platform/audit/audit-event.ts";
import { PendingEvent } from "#platform/audit/pending-event.ts";
import { RefusalLimit } from "#platform/audit/refusal-limit.ts";
import { ApiError } from "#platform/errors.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { Log } from "#platform/log/log.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { insertAuditEvent } from "#workspace/audit/store.ts";
import { newToken, type SessionRequest } from "#workspace/people/open-session.ts";
import { updateSession } from "#workspace/people/sessions-store.ts";
import { countVisit } from "#workspace/sign-in/attempts.ts";
import { type FirstStep, SignIn, type SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { type BegunSignOn, findBegun, forgetBegun, isProvedSince, keepBegun } from "./begun-sign-on.ts";
import type { OpenIdProvider } from "./openid-provider.ts";
import { personOfAccount, type SignOnPolicy, type SignOnRefusal } from "./person-of-account.ts";
import type { ProviderAccount } from "./provider-account.ts";
import { ProviderFault, type ProviderFaultKind } from "./provider-fault.ts";

/** The page to which the provider sends the browser back: the redirect URI, relative to PUBLIC_URL. */
export const FINISH_PATH = "/single-sign-on/finish";
/** When a sign-in may be begun again after the provider did not answer. */
export const RETRY_SECONDS = 10;
/** A session that was confirmed then is not confirmed now. */
const NEVER = new Date(0);

export interface SingleSignOnDeps extends SignInDeps {
  readonly log: Log;
  readonly secrets: Secrets;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
  readonly policy: SignOnPolicy;
}

/**
 * Why a sign-in failed: this browser has begun none, the provider has not asked again who the person is, a fault of the
 * provider, or a refusal of ours.
 */
export type SignOnFailure = "not_begun" | "not_asked_again" | ProviderFaultKind | SignOnRefusal;

/**
 * Where the browser goes on, with the challenge of the second factor if one is missing; or why it does not, and where it would have
 * gone, for another way to sign in.
 */
export type FinishedSignOn =
  | { readonly returnTo: string; readonly challenge: string | null }
  | {
      readonly failure: SignOnFailure;
      /** Null when this browser has begun none. */
      readonly returnTo: string | null;
    };

interface FinishRequest extends SessionRequest {
  /** The query of the URL to which the provider sent the browser. */
  readonly query: URLSearchParams;
  readonly requestId: string;
}

export class SingleSignOn {
  readonly #deps: SingleSignOnDeps;
  readonly #provider: OpenIdProvider;
  readonly #signIn: SignIn;
  readonly #refusals = new RefusalLimit();

  constructor(deps: SingleSignOnDeps, provider: OpenIdProvider) {
    this.#deps = deps;
    this.#provider = provider;
    this.#signIn = new SignIn(deps);
  }

  /** The operator's name of the provider. */
  get name(): string {
    return this.#provider.name;
  }

  /**
   * Begins a sign-in: sets the cookie that lets this browser finish it.
   * @param returnTo read by readReturnPath
   * @throws ApiError RATE_LIMIT_EXCEEDED; INTERNAL_ERROR with 503 when the provider does not answer
   */
  async begin(
    { returnTo, asksAgain }: { readonly returnTo: string; readonly asksAgain: boolean },
    { client, cookies }: SessionRequest,
  ): Promise<{ readonly url: string; readonly expires_at: Date }> {
    const { db, clock, secrets, log } = this.#deps;
    await countVisit(db, client.ip, clock.now());
    const proof = { state: newToken(), nonce: newToken(), verifier: newToken() };
    try {
      const url = await this.#provider.signInUrl(proof, this.#redirectUri(), asksAgain);
      return {
        url: url.href,
        expires_at: keepBegun(cookies, secrets, { ...proof, returnTo, asksAgain }, clock.now()),
      };
    } catch (fault) {
      if (!(fault instanceof ProviderFault)) throw fault;
      log.warn({ reason: fault.message }, "the OpenID provider does not answer");
      throw new ApiError(
        "INTERNAL_ERROR",
        `${this.name} does not answer: try again shortly, or sign in another way`,
        { status: 503, headers: { "Retry-After": String(RETRY_SECONDS) } },
      );
    }
  }

  /**
   * Finishes a sign-in that this browser has begun. The cookie is used up as soon as the state is right.
   * @throws ApiError RATE_LIMIT_EXCEEDED; CONFLICT, BAD_REQUEST when the person cannot be created
   */
  async finish(request: FinishRequest): Promise<FinishedSignOn> {
    const { db, clock, secrets, log } = this.#deps;
    const { cookies, client, query, requestId } = request;
    await countVisit(db, client.ip, clock.now());
    const begun = findBegun(cookies, secrets, clock.now());
    if (begun === undefined || query.get("state") !== begun.state) {
      return { failure: "not_begun", returnTo: null };
    }
    forgetBegun(cookies);
    const answer = new URL(`${this.#redirectUri()}?${query.toString()}`);
    try {
      const account = await this.#provider.accountOf(answer, begun);
      if (begun.asksAgain && !isProvedSince(account.provedAt, begun)) {
        log.warn({ request_id: requestId }, "the OpenID provider does not say that it has asked again");
        return { failure: "not_asked_again", returnTo: begun.returnTo };
      }
      return await this.#enter(account, begun, request);
    } catch (fault) {
      if (!(fault instanceof ProviderFault)) throw fault;
      const concerned = { request_id: requestId, kind: fault.kind, reason: fault.message };
      if (fault.kind === "unavailable") log.warn(concerned, "the OpenID provider does not answer");
      else log.info(concerned, "single sign-on failed");
      return { failure: fault.kind, returnTo: begun.returnTo };
    }
  }

  /** Opens the session of an account's person, or asks for the second factor. */
  async #enter(
    account: ProviderAccount,
    { returnTo }: BegunSignOn,
    request: FinishRequest,
  ): Promise<FinishedSignOn> {
    const { db, clock, policy, sendAccountMail, forgetSessions } = this.#deps;
    const now = clock.now();
    const event = new PendingEvent(() => eventOf(request), insertAuditEvent);
    const entered = await event
      .run(() =>
        db.transaction(async (tx): Promise<FirstStep | SignOnRefusal> => {
          const user = await personOfAccount(tx, { policy, sendAccountMail }, account, now);
          if (typeof user === "string") {
            // A refusal is no sign-in: it is logged below.
            event.close();
            return user;
          }
          const step = await this.#signIn.completeFirstStep(tx, user, request, { needsSecondFactor: true });
          // A session of the provider may be old: it confirms no more than the person proved there.
          const confirmedAt = account.provedAt ?? NEVER;
          if ("sessionId" in step && confirmedAt < now) {
            await updateSession(tx, step.sessionId, { confirmedAt });
          }
          return step;
        }),
      )
      .finally(() => event.close());
    if (typeof entered === "string") {
      if (this.#refusals.mayWrite(`${networkOf(request.client.ip)} ${entered}`)) {
        await insertAuditEvent(db, { ...eventOf(request), result: "refused", code: "FORBIDDEN" });
      }
      return { failure: entered, returnTo };
    }
    if ("challenge" in entered) return { returnTo, challenge: entered.challenge.challenge };
    forgetSessions();
    return { returnTo, challenge: null };
  }

  #redirectUri(): string {
    return `${this.#deps.publicUrl()}${FINISH_PATH}`;
  }
}

function eventOf({ client, requestId }: FinishRequest) {
  return {
    workspaceId: null,
    actor: { kind: "visitor", id: null, name: "" },
    operation: "finishSingleSignOn",
    resource: { kind: "sign_in", id: null, name: null },
    result: "done",
    code: null,
    changes: [],
    ip: client.ip,
    agent: auditedAgent(client.agent),
    requestId,
  } as const;
}
