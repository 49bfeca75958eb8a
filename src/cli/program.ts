/**
 * The command line, one file per group of commands. Commands work while the service runs, on any machine that reaches
 * its database. Results are written to standard output, and one sentence about a failure to standard error.
 */

import type { Command } from "commander";
import { addBackupCommand } from "./backup/backup.ts";
import { addRestoreCommand } from "./backup/restore.ts";
import { runAudited } from "./command/audit-command.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { bareProgram, exitCodeOf } from "./command/run-program.ts";
import { addConfigCommand } from "./config.ts";
import { addCreditCommand } from "./credit.ts";
import { addDemoCommand } from "./demo.ts";
import { addDoctorCommand } from "./doctor/doctor.ts";
import { addDomainCommands } from "./domain.ts";
import { addImportCommands } from "./import.ts";
import { addInboxCommand } from "./inbox.ts";
import { addKeyCommands } from "./key.ts";
import { addListsCommands } from "./lists.ts";
import { addMcpCommand } from "./mcp.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addMigrateFromCommands } from "./migrate-from.ts";
import { addMailCommands } from "./received-mail.ts";
import { addSecretKeyCommands } from "./secret-key/secret-key.ts";
import { addSendingCommands } from "./sending/sending.ts";
import { addServeCommand } from "./serve.ts";
import { addStatusCommand } from "./status/status.ts";
import { addUserCommands } from "./user.ts";
import { addWorkspaceCommands } from "./workspace.ts";

/** Builds the command line without running it. */
export function createProgram(options: CliOptions): Command {
  const program = bareProgram(options);
  addServeCommand(program, options);
  addMigrateCommand(program, options);
  addBackupCommand(program, options);
  addRestoreCommand(program, options);
  addWorkspaceCommands(program, options);
  addKeyCommands(program, options);
  addUserCommands(program, options);
  addDomainCommands(program, options);
  addSecretKeyCommands(program, options);
  addSendingCommands(program, options);
  addCreditCommand(program, options);
  addListsCommands(program, options);
  addImportCommands(program, options);
  addMailCommands(program, options);
  addConfigCommand(program, options);
  addInboxCommand(program, options);
  addDoctorCommand(program, options);
  addStatusCommand(program, options);
  addDemoCommand(program, options);
  addMcpCommand(program, options);
  addMigrateFromCommands(program, options);
  return program;
}

/** Runs the command of `argv` (without the program's name). Returns the exit code: 0, 1 (failed) or 2 (wrong usage). */
export function runCli(argv: readonly string[], options: CliOptions): Promise<number> {
  return exitCodeOf(async () => {
    const program = createProgram(options);
    await runAudited(program, () => program.parseAsync(argv, { from: "user" }));
  }, options.stderr);
}
