/** What a start tells the person who started it: where things are, which plan is in force, and the first key, once. */
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { localUrl } from "#platform/network/local-url.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { plansInForce } from "#workspace/billing/plans-in-force.ts";
import type { Services } from "./context.ts";

/** @param port that the API listens on */
export async function startNotice({ config, database, clock }: Services, port: number): Promise<string> {
  const base = localUrl(config, port);
  const plans = await plansInForce(database, readPlans(config.PLANS_FILE), clock.now());
  const lines = [
    ...(config.MAIL_MODE === "capture"
      ? [
          ["Inbox", inboxAddress(base, inboxToken(config))],
          ["", "mail stays on this machine (MAIL_MODE=capture)"],
        ]
      : []),
    ["API docs", `${base}/docs`],
    ["Plan", plans],
  ];
  return `\n${lines.map(([name = "", text]) => `  ${name.padEnd(10)}${text}\n`).join("")}\n`;
}

export function firstKeyNotice(secret: string): string {
  return `\n  Your first API key, shown this once:\n\n      ${secret}\n\n  Send it in the header X-API-Key. More keys: npm run -s posthaste -- key create --help\n`;
}
