/** `posthaste doctor`: checks the installation and says how to correct what it finds. */

import type { Command } from "commander";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { withInstallation } from "#cli/command/database.ts";
import { argument } from "#cli/command/option-parsers.ts";
import { json, table } from "#cli/command/output.ts";
import { parseDomain } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { findMiscounts } from "./counters.ts";
import { examine } from "./run-checks.ts";

const counterColumns = [
  "counter_of",
  "workspace_id",
  "origin_id",
  "domain",
  "counter",
  "kept",
  "counted",
] as const;
const findingColumns = ["status", "check", "message"] as const;

/** The whole log is read, which can have millions of rows. */
const patient = { statementMs: HOUR_MS, answerMs: HOUR_MS };

interface DoctorOptions {
  readonly counters?: true;
  readonly mxOf?: string;
  readonly json?: true;
}

export function addDoctorCommand(program: Command, { stdout, environment }: CliOptions): void {
  const compareCounters = async (options: DoctorOptions) => {
    const miscounts = await withInstallation(environment, findMiscounts, patient);
    if (options.json) stdout.write(json(miscounts));
    else if (miscounts.length > 0) stdout.write(table(counterColumns, miscounts));
    else
      stdout.write(
        "The counters of all campaigns, autoresponders, lists and reports agree with the message log.\n",
      );
    if (miscounts.length > 0) throw new Error(`${miscounts.length} counters differ from the message log`);
  };

  const examineAll = async (options: DoctorOptions) => {
    const findings = await examine(environment, options.mxOf ?? null);
    stdout.write(options.json ? json(findings) : table(findingColumns, findings));
    const faults = findings.filter(({ status }) => status === "fault").length;
    if (faults > 0)
      throw new Error(faults === 1 ? "one check found a fault" : `${faults} checks found a fault`);
  };

  program
    .command("doctor")
    .description(
      "check the installation: database, clock, disk, port 25 or the relay, DNS names; fails if a check finds a fault",
    )
    .option(
      "--counters",
      "instead, compare the counters of campaigns, autoresponders, lists and reports with the message log",
    )
    .option(
      "--mx-of <domain>",
      "domain whose mail hosts are tried; default: the domain of PLATFORM_FROM",
      argument(readDomain),
    )
    .option("--json", "print JSON")
    .action((options: DoctorOptions) => (options.counters ? compareCounters(options) : examineAll(options)));
}

function readDomain(text: string): string {
  const parsed = parseDomain(text);
  if (!parsed.ok) throw invalid({ field: "mx_of", message: parsed.message });
  return parsed.domain;
}
