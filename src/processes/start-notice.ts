/** The text that a start prints: the addresses of the console and the API, the plan in force and, once, the first API key. */
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { findHold } from "#delivery/hold/store.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { localUrl } from "#platform/network/local-url.ts";
import { typedCommand } from "#platform/typed-command.ts";
import { plansInForce } from "#workspace/billing/describe-plans-in-force.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { issueWelcomePath } from "#workspace/people/issue-link.ts";

/** @param port the API's port */
export async function startNotice(
  { config, database, clock }: ProcessContext,
  port: number,
): Promise<string> {
  const base = localUrl(config, port);
  const plans = await plansInForce(database, readPlans(config.PLANS_FILE), clock.now());
  const hold = await findHold(database);
  // Each start prints a fresh link until there is a person.
  const hasPasswords = config.PASSWORD_LOGIN === "on";
  const welcome = hasPasswords ? await issueWelcomePath(database, clock.now()) : undefined;
  const publicBase = config.PUBLIC_URL?.href.replace(/\/$/, "") ?? base;
  const lines = [
    ...(welcome === undefined
      ? []
      : [
          ["Welcome", `${publicBase}${welcome}`],
          ["", "creates the first person; works once, for 24 hours (docs/sign-in.md)"],
        ]),
    ["Console", `${publicBase}/console`],
    ...(config.MAIL_MODE === "capture"
      ? [
          ["Inbox", inboxAddress(base, inboxToken(config))],
          ["", "mail stays on this machine (MAIL_MODE=capture)"],
        ]
      : []),
    ["API docs", `${base}/docs`],
    ["Plan", plans],
    ...(hold === undefined
      ? []
      : [
          ["Sending", `held since ${hold.held_at.toISOString()}: nothing leaves`],
          ["", `${typedCommand("sending release")} (docs/backup.md)`],
        ]),
  ];
  return `\n${lines.map(([name = "", text]) => `  ${name.padEnd(10)}${text}\n`).join("")}\n`;
}

export function firstKeyNotice(secret: string): string {
  return `\n  Your first API key, shown this once:\n\n      ${secret}\n\n  Send it in the header X-API-Key. More keys: ${typedCommand("key create --help")}\n`;
}
