/** `posthaste serve`: the service itself, which main.ts starts. */

import { type Command, InvalidArgumentError } from "commander";
import { type Role, roles } from "#processes/roles.ts";
import { readList } from "./command/arguments.ts";
import type { CliOptions } from "./command/options.ts";

export function addServeCommand(program: Command, { serve }: CliOptions): void {
  program
    .command("serve")
    .description("run the service until it is told to stop")
    .option("--roles <list>", `some of ${roles.join(",")}`, readRoles, [...roles])
    .action((options: { roles: readonly Role[] }) => serve(options.roles));
}

function readRoles(text: string): Role[] {
  return [...new Set(readList(text))].map((name) => {
    const role = roles.find((candidate) => candidate === name);
    if (role === undefined) throw new InvalidArgumentError(`Roles are ${roles.join(", ")}.`);
    return role;
  });
}
