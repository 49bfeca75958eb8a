/** `posthaste inbox`: where the local inbox of capture mode is, with the token that opens it. */

import type { Command } from "commander";
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { readConfig } from "#platform/config/config.ts";
import { localUrl } from "#platform/network/local-url.ts";
import type { CliOptions } from "./command/options.ts";

export function addInboxCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("inbox")
    .description("print the address of the local inbox of capture mode, with its token")
    .option("--token", "print the token alone, for programs")
    .action((options: { readonly token?: true }) => {
      const config = readConfig(environment);
      const token = inboxToken(config);
      if (config.MAIL_MODE !== "capture")
        throw new Error("There is a local inbox with MAIL_MODE=capture only");
      stdout.write(`${options.token ? token.value : inboxAddress(localUrl(config), token)}\n`);
    });
}
