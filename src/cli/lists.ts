/** `posthaste lists`: the lists of domains that address validation uses. */

import { type Command, Option } from "commander";
import { refreshDisposableDomains } from "#hygiene/validations/refresh-disposable-domains.ts";
import { readConfig } from "#platform/config/config.ts";
import type { CliOptions } from "./command/command-dependencies.ts";

export function addListsCommands(program: Command, { stdout, environment }: CliOptions): void {
  const lists = program.command("lists").description("lists that addresses are compared with");
  lists
    .command("refresh")
    .description("install a newer list, used instead of the one shipped with the program")
    .addOption(
      new Option("--list <list>", "the list to replace").choices(["disposable"]).makeOptionMandatory(),
    )
    .requiredOption("--from <file or url>", "a text with one domain a line")
    .action(async ({ from }: { readonly from: string }) => {
      const count = await refreshDisposableDomains(readConfig(environment).DATA_DIR, from);
      stdout.write(`The list of disposable domains has ${count} domains.\n`);
    });
}
