import type { FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { platformSigningKey, signingKey } from "#identity/dkims/signing-key.ts";
import { returnPathHost } from "#identity/return-path-host.ts";
import { trackingBaseBelow } from "#identity/tracking-domains/tracking-base-url.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { mailLinkKeys } from "#tracking/link-tokens.ts";

/**
 * Finds the DKIM key, return path and tracking host of a From domain. The domain of a verified sender is not verified
 * here, so its mail is signed with the platform's key, as platform mail is.
 */
export function createIdentityFinder(
  { database, secrets, config }: Pick<ProcessContext, "database" | "secrets" | "config">,
  publicUrl: string,
): FindIdentity {
  const linkKey = mailLinkKeys(secrets).signing;
  const platformDomain = config.PLATFORM_SENDER.split("@")[1] ?? "";
  return async (workspaceId, fromDomain) => {
    const [own, host, linkBase] = await Promise.all([
      signingKey(database, secrets, workspaceId, fromDomain),
      returnPathHost(database, workspaceId, fromDomain, config.BOUNCE_DOMAIN),
      trackingBaseBelow(database, workspaceId, fromDomain, publicUrl),
    ]);
    return {
      signingKey: own ?? (await platformSigningKey(database, secrets, platformDomain)),
      returnPathHost: host,
      tracking: { base: linkBase, key: linkKey },
    };
  };
}
