/** Checks that PUBLIC_URL resolves and that browsers trust its certificate. */
import { isIP } from "node:net";
import { createTlsProbe } from "#identity/tracking-domains/check-certificate.ts";
import type { Config } from "#platform/config/config.ts";
import { publicUrlFault } from "#platform/network/public-url-check.ts";
import { type Finding, of } from "./finding.ts";

const HTTPS = 443;

/** Makes one TLS handshake with the host of PUBLIC_URL, which may have a private address. */
export async function checkPublicUrl({ MAIL_MODE, PUBLIC_URL, DNS_SERVERS }: Config): Promise<Finding> {
  const say = of("public URL");
  const fault = publicUrlFault({ MAIL_MODE, PUBLIC_URL });
  if (fault !== null || PUBLIC_URL === null) return say("fault", `${fault ?? "PUBLIC_URL is not set"}.`);
  const { href, hostname } = PUBLIC_URL;
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) {
    return say("not_checked", `Links lead to ${href}: open it in a browser and check its certificate.`);
  }
  const port = Number(PUBLIC_URL.port) || HTTPS;
  const look = await createTlsProbe({ servers: DNS_SERVERS, port, allowPrivate: true })(hostname);
  switch (look.outcome) {
    case "trusted":
      return say("ok", `Links lead to ${href}.`);
    case "distrusted":
      return say("fault", `Browsers do not trust ${href}: ${look.reason}.`);
    case "nowhere":
      return say(
        "fault",
        `${hostname} has no address in the DNS, and links in mails lead to ${href}. Add its record.`,
      );
    case "unreached":
      // Many networks do not route their own public address from inside.
      return say(
        "not_checked",
        `Links lead to ${href}, which this machine does not reach (${look.reason}): open it from elsewhere.`,
      );
  }
}
