/** `posthaste inbox`: prints the address of capture mode's local inbox, with its token. */

import type { Command } from "commander";
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { readConfig } from "#platform/config/config.ts";
import { localUrl } from "#platform/network/local-url.ts";
import type { CliOptions } from "./command/command-dependencies.ts";

export function addInboxCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("inbox")
    .description("print the address of the local inbox of capture mode, with its token")
    .option("--token", "print the token alone, for programs")
    .action((options: { readonly token?: true }) => {
      const config = readConfig(environment);
      if (config.MAIL_MODE !== "capture")
        throw new Error("The local inbox exists only with MAIL_MODE=capture");
      // A token made here would be that of no service.
      const value = inboxToken(config).find();
      if (value === undefined)
        throw new Error(
          `No inbox token in ${config.DATA_DIR}: run this command with the DATA_DIR and PORT of the service`,
        );
      stdout.write(`${options.token ? value : inboxAddress(localUrl(config), { value })}\n`);
    });
}
