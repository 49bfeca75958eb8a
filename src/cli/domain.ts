/** `posthaste domain on|off`: whether a sending domain may be used at all, which no key decides (decisions, section 11 row 11). */

import type { Command } from "commander";
import { listSwitchedDomains, setDomainSwitch } from "#identity/sending-domains/operator-switch-store.ts";
import { domainInALabels } from "#mail/address.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readWorkspaceId } from "./command/arguments.ts";
import { withDatabase } from "./command/database.ts";
import type { CliOptions } from "./command/options.ts";
import { json, table } from "./command/output.ts";

const columns = ["workspace_id", "domain", "is_verified", "is_active"] as const;

interface Named {
  readonly domain: string;
  readonly workspace?: WorkspaceId;
  readonly json?: true;
}

export function addDomainCommands(program: Command, { stdout, environment }: CliOptions): void {
  const domain = program.command("domain").description("sending domains of workspaces");
  for (const [name, isActive, description] of [
    ["off", false, "let nobody send from a domain, nor by a verified sender on it"],
    ["on", true, "let those send from it again who have proved that it is theirs"],
  ] as const) {
    domain
      .command(name)
      .description(description)
      .requiredOption("--domain <domain>", "such as example.com", (text) =>
        domainInALabels(text.toLowerCase()),
      )
      .option("--workspace <id>", "of this workspace alone", readWorkspaceId)
      .option("--json", "print JSON")
      .action(async (options: Named) => {
        const of = { domain: options.domain, workspaceId: options.workspace ?? null };
        const switched = await withDatabase(environment, (db) =>
          db.transaction(async (tx) => {
            if (!(await setDomainSwitch(tx, { ...of, isActive }))) throw notFound("Workspace");
            return await listSwitchedDomains(tx, of);
          }),
        );
        if (options.json) stdout.write(json(switched));
        else stdout.write(switched.length > 0 ? table(columns, switched) : nobodyHas(options.domain));
      });
  }
}

/** Said because it may be a slip of the pen. */
function nobodyHas(domain: string): string {
  return `No workspace has ${domain} among its sending domains now; the switch holds for whoever adds it, and for verified senders.\n`;
}
