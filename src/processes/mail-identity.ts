/** What mail is composed with, by the delivery process and by the API where it shows a sent mail again. */
import type { ComposeOptions, FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { platformSigningKey, signingKey } from "#identity/dkims/signing-key.ts";
import { returnPathHost } from "#identity/return-path-host.ts";
import { trackingBase, trackingBaseBelow } from "#identity/tracking-domains/tracking-base-url.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { trackMail } from "#tracking/add-tracking.ts";
import { mailLinkKeys, outgoingLinks } from "#tracking/link-tokens.ts";

/**
 * Finds the DKIM key, return path and tracking host of a From domain. The domain of a verified sender is not verified
 * here, so its mail is signed with the platform's key, as platform mail is.
 */
function createIdentityFinder(
  { database, secrets, config }: ProcessContext,
  publicUrl: () => string,
): FindIdentity {
  const linkKey = mailLinkKeys(secrets).signing;
  const platformDomain = config.PLATFORM_SENDER.split("@")[1] ?? "";
  return async (workspaceId, fromDomain) => {
    const [own, host, linkBase] = await Promise.all([
      signingKey(database, secrets, workspaceId, fromDomain),
      returnPathHost(database, workspaceId, fromDomain, config.BOUNCE_DOMAIN),
      trackingBaseBelow(database, workspaceId, fromDomain, publicUrl()),
    ]);
    return {
      signingKey: own ?? (await platformSigningKey(database, secrets, platformDomain)),
      returnPathHost: host,
      tracking: { base: linkBase, key: linkKey },
    };
  };
}

/** The URL of the service where the API does not run, without a slash at its end. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: ProcessContext["config"]): string {
  return PUBLIC_URL?.href.replace(/\/$/, "") ?? `http://${HOST}:${PORT}`;
}

/** The links in mail of campaigns and autoresponders. */
export function campaignLinks(
  { database, secrets, config }: ProcessContext,
  publicUrl: () => string,
): Pick<CampaignMailDeps, "linkBase" | "linksOf"> {
  const linkKey = mailLinkKeys(secrets).signing;
  const bounceDomain = config.INBOUND_PORT === null ? null : config.BOUNCE_DOMAIN;
  return {
    linkBase: (workspaceId, urlDomainId) => trackingBase(database, workspaceId, urlDomainId, publicUrl()),
    linksOf: (mail, base) => outgoingLinks(mail, base, linkKey, bounceDomain),
  };
}

/** How a message is composed, without the means for large ones. */
export function composing(context: ProcessContext, publicUrl: () => string): ComposeOptions {
  const { config, secrets } = context;
  return {
    findIdentity: createIdentityFinder(context, publicUrl),
    returnPathKey: returnPathKeys(secrets).signing,
    complaintAddress: config.INBOUND_PORT === null ? null : `fbl@${config.BOUNCE_DOMAIN}`,
    trackHtml: trackMail,
  };
}
