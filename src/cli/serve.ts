/** `posthaste serve`: the service itself, which main.ts starts. */
import { type Command, InvalidArgumentError } from "commander";
import { readList } from "./arguments.ts";
import type { CliOptions } from "./program.ts";

/** The parts of the program; any of them may run on machines of their own. */
export const roles = ["api", "delivery", "jobs", "inbound"] as const;
export type Role = (typeof roles)[number];

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
