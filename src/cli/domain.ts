/** `posthaste domain on|off`: the operator's switch for a sending domain. It applies whatever an API key permits. */

import type { Command } from "commander";
import { listSwitchedDomains, setDomainSwitch } from "#identity/sending-domains/operator-switch-store.ts";
import { domainInALabels } from "#mail/address.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withInstallation } from "./command/database.ts";
import { readWorkspaceId } from "./command/option-parsers.ts";
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
    ["off", false, "stop all sending from a domain, also by verified senders on it"],
    ["on", true, "allow verified owners of the domain to send from it again"],
  ] as const) {
    domain
      .command(name)
      .description(description)
      .requiredOption("--domain <domain>", "such as example.com", (text) =>
        domainInALabels(text.toLowerCase()),
      )
      .option("--workspace <id>", "only for this workspace", readWorkspaceId)
      .option("--json", "print JSON")
      .action(async (options: Named) => {
        const of = { domain: options.domain, workspaceId: options.workspace ?? null };
        const switched = await withInstallation(environment, (db) =>
          db.transaction(async (tx) => {
            if (!(await setDomainSwitch(tx, { ...of, isActive }))) throw notFound("Workspace");
            return await listSwitchedDomains(tx, of);
          }),
        );
        if (options.json) stdout.write(json(switched));
        else stdout.write(switched.length > 0 ? table(columns, switched) : unknownDomain(options.domain));
      });
  }
}

/** The count is printed because the domain may be misspelled. */
function unknownDomain(domain: string): string {
  return `No workspace has the sending domain ${domain} now. The switch applies to workspaces that add it later, and to verified senders.\n`;
}
