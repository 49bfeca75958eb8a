/** Assembles the workspace wing: API keys, plans, billing and payments. */
import type { FastifyInstance } from "fastify";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import { forgetOld } from "#platform/jobs/forget-old.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { accountEndpoints } from "./account/endpoints.ts";
import { apiKeyEndpoints } from "./api-keys/endpoints.ts";
import { apiRequestEndpoints } from "./api-keys/requests/endpoints.ts";
import { REQUEST_DAYS, removeOldRequests } from "./api-keys/requests/store.ts";
import { auditEndpoints } from "./audit/endpoints.ts";
import { AUDIT_DAYS, removeOldAuditEvents } from "./audit/store.ts";
import { billingTasks } from "./billing/billing-jobs.ts";
import { billingEndpoints } from "./billing/endpoints.ts";
import { topUpEndpoints } from "./billing/payments/endpoints.ts";
import type { PaymentGateway } from "./billing/payments/gateway.ts";
import { registerPaymentPages } from "./billing/payments/webhook-and-return-page.ts";
import type { Plans } from "./billing/plans.ts";
import { statementEndpoints } from "./billing/statements/endpoints.ts";
import { type UsageDaysDeps, usageDaysEndpoints } from "./billing/usage-days/endpoints.ts";
import { brandEndpoints, type LogoHooks } from "./brand/endpoints.ts";
import { firstOwnerEndpoints } from "./first-owner/endpoints.ts";
import { operatorEndpoints } from "./operator/endpoints.ts";
import { installationUserEndpoints } from "./operator/users/endpoints.ts";
import { passwordResetEndpoints } from "./password-reset/endpoints.ts";
import { PasswordHasher } from "./passwords/hash-password.ts";
import { secondFactorEndpoints } from "./second-factors/endpoints.ts";
import { relyingPartyOf } from "./second-factors/passkeys.ts";
import { SecondFactors } from "./second-factors/second-factors.ts";
import { signInEndpoints } from "./sign-in/endpoints.ts";
import { signInTasks } from "./sign-in/remove-expired.ts";
import type { SignInDeps } from "./sign-in/sign-in.ts";
import { singleSignOnEndpoints } from "./single-sign-on/endpoints.ts";
import { registerFinishPage } from "./single-sign-on/finish-page.ts";
import { openIdProviderOf } from "./single-sign-on/openid-provider.ts";
import { SingleSignOn, type SingleSignOnDeps } from "./single-sign-on/single-sign-on.ts";
import { type TeamDeps, teamEndpoints } from "./team/endpoints.ts";
import { type InvitationDeps, invitationEndpoints } from "./team/invitations/endpoints.ts";
import { ENDED_INVITATION_DAYS, removeEndedInvitations } from "./team/invitations/store.ts";
import { roleEndpoints } from "./team/roles/endpoints.ts";
import { textEndpoints } from "./texts/endpoints.ts";
import { type WorkspaceDeps, workspaceSettingsEndpoints } from "./workspaces/endpoints.ts";

export interface WorkspaceParts extends ProcessContext {
  readonly plans: Plans;
  readonly paymentGateway: PaymentGateway | null;
  readonly publicUrl: () => string;
  readonly people: PeopleParts;
}

/** What the operations of people share, made once for a process: the hasher limits how many hashes run at a time. */
export interface PeopleParts extends Omit<SingleSignOnDeps, "policy"> {
  /** Null: no provider is configured. */
  readonly singleSignOn: SingleSignOn | null;
}

type ApiKeyHooks = Pick<Parameters<typeof apiKeyEndpoints>[0], "endpoints" | "forgetKeys" | "onRemoved">;

/** The other wings' share in these endpoints. */
export interface WorkspaceHooks extends ApiKeyHooks, LogoHooks {
  readonly onTeammateRemoved: TeamDeps["onTeammateRemoved"];
  readonly sendInvitation: InvitationDeps["sendInvitation"];
  readonly countMessagesByDay: UsageDaysDeps["countMessagesByDay"];
  readonly requireLanguageField: WorkspaceDeps["requireLanguageField"];
}

export function workspaceEndpoints(parts: WorkspaceParts, hooks: WorkspaceHooks): Endpoint[] {
  const { database: db, clock, log, plans, paymentGateway: gateway, publicUrl, people } = parts;
  return [
    ...signInEndpoints(people, {
      singleSignOnName: people.singleSignOn?.name ?? null,
      capturesMail: parts.config.MAIL_MODE === "capture",
    }),
    ...singleSignOnEndpoints({ ...people, consolePath: consolePathOf(publicUrl) }),
    ...passwordResetEndpoints(people),
    ...firstOwnerEndpoints(people),
    ...accountEndpoints(people),
    ...secondFactorEndpoints(people),
    ...apiKeyEndpoints({ db, clock, ...hooks }),
    ...apiRequestEndpoints({ db, ...hooks }),
    ...teamEndpoints({ db, clock, ...hooks }),
    ...invitationEndpoints({ ...people, ...hooks }),
    ...roleEndpoints({ db, clock, ...hooks }),
    ...billingEndpoints({ db, clock, plans }),
    ...usageDaysEndpoints({ db, clock, plans, ...hooks }),
    ...statementEndpoints({ db, clock, plans }),
    ...workspaceSettingsEndpoints({ db, clock, plans, ...hooks }),
    ...brandEndpoints({ db, clock, ...hooks }),
    ...textEndpoints({ db, clock }),
    ...operatorEndpoints({ db, clock, plans, ...hooks }),
    ...installationUserEndpoints({ db, clock, ...hooks }),
    ...auditEndpoints({ db, clock, ...hooks }),
    ...topUpEndpoints({ db, clock, log, gateway, publicUrl }),
  ];
}

interface PeopleOptions extends Pick<SignInDeps, "sendAccountMail" | "forgetSessions"> {
  readonly publicUrl: () => string;
  /** Called for each hash of a password that is computed. */
  readonly onPasswordHash: () => void;
}

export function createPeopleParts(
  { config, database: db, clock, log, secrets }: ProcessContext,
  { sendAccountMail, forgetSessions, publicUrl, onPasswordHash }: PeopleOptions,
): PeopleParts {
  const provider = openIdProviderOf(config, clock);
  const people = {
    db,
    clock,
    log,
    secrets,
    hasher: new PasswordHasher(undefined, onPasswordHash),
    hasPasswords: config.PASSWORD_LOGIN === "on",
    hasSingleSignOn: provider !== null,
    factors: new SecondFactors(secrets, () => relyingPartyOf(publicUrl())),
    sendAccountMail,
    forgetSessions,
    publicUrl,
  };
  return { ...people, singleSignOn: provider && new SingleSignOn({ ...people, policy: config }, provider) };
}

/** Paths of the console's pages: PUBLIC_URL may have a path of its own. */
function consolePathOf(publicUrl: () => string): (page: string) => string {
  return (page) => `${new URL(publicUrl()).pathname.replace(/\/$/, "")}/console${page}`;
}

/** Registers the pages that a payment provider calls and that an OpenID provider returns to, if they are configured. */
export function registerWorkspacePages(pages: FastifyInstance, parts: WorkspaceParts): void {
  const { database: db, clock, plans, paymentGateway: gateway, people, publicUrl } = parts;
  if (gateway) registerPaymentPages(pages, { db, clock, plans, gateway });
  const { singleSignOn } = people;
  if (singleSignOn) registerFinishPage(pages, { singleSignOn, consolePath: consolePathOf(publicUrl) });
}

export function workspaceRecurring({
  database: db,
  clock,
  plans,
}: Pick<WorkspaceParts, "database" | "clock" | "plans">): Recurring[] {
  const deps = { db, clock };
  return [
    ...billingTasks({ db, clock, plans }),
    ...signInTasks(db, clock),
    forgetOld(deps, { name: "forget-audit-events", days: AUDIT_DAYS, remove: removeOldAuditEvents }),
    forgetOld(deps, { name: "forget-api-requests", days: REQUEST_DAYS, remove: removeOldRequests }),
    forgetOld(deps, {
      name: "forget-invitations",
      days: ENDED_INVITATION_DAYS,
      remove: removeEndedInvitations,
    }),
  ];
}
