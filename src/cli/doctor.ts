/** `posthaste doctor`: looks whether the installation is in order, and changes nothing. */
import type { Command } from "commander";
import { findCampaignMiscounts } from "../sending/campaigns/recount-store.ts";
import { withDatabase } from "./database.ts";
import { json, table } from "./output.ts";
import type { CliOptions } from "./program.ts";

const columns = ["campaign_id", "domain", "counter", "kept", "counted"] as const;

export function addDoctorCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("doctor")
    .description("check the installation; fails when something is wrong")
    .requiredOption("--counters", "compare the counters of campaigns with the message log")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const miscounts = await withDatabase(environment, findCampaignMiscounts);
      if (options.json) stdout.write(json(miscounts));
      else if (miscounts.length > 0) stdout.write(table(columns, miscounts));
      else stdout.write("The counters of all campaigns agree with the message log.\n");
      if (miscounts.length > 0) throw new Error(`${miscounts.length} counters differ from the message log`);
    });
}
