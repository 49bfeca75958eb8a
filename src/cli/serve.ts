/** `posthaste serve`: runs the service. */

import { type Command, InvalidArgumentError } from "commander";
import { type Role, roles } from "#processes/roles.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { readList } from "./command/option-parsers.ts";

export function addServeCommand(program: Command, { serve }: CliOptions): void {
  program
    .command("serve")
    .description("run the service until SIGTERM or SIGINT")
    .option("--roles <list>", `roles of this machine, from ${roles.join(",")}`, readRoles, [...roles])
    .action((options: { roles: readonly Role[] }) => serve(options.roles));
}

function readRoles(text: string): Role[] {
  return [...new Set(readList(text))].map((name) => {
    const role = roles.find((candidate) => candidate === name);
    if (role === undefined) throw new InvalidArgumentError(`Roles are ${roles.join(", ")}.`);
    return role;
  });
}
