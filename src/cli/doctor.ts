/** `posthaste doctor`: looks whether the installation is in order, and changes nothing. */
import type { Command } from "commander";
import type { Queryable } from "../platform/database/pool.ts";
import { findListMiscounts } from "../reporting/counters/list-recount-store.ts";
import { findReportMiscounts } from "../reporting/counters/recount-store.ts";
import { findOriginMiscounts } from "../sending/campaigns/counters/recount-store.ts";
import { withDatabase } from "./database.ts";
import { json, table } from "./output.ts";
import type { CliOptions } from "./program.ts";

const columns = ["counter_of", "workspace_id", "origin_id", "domain", "counter", "kept", "counted"] as const;

/** The log has millions of rows, and is read from end to end. */
const HOUR_MS = 3_600_000;
const patient = { statementMs: HOUR_MS, answerMs: HOUR_MS };

/** A counter that is not what the log says, of whatever kind. */
interface Miscount {
  readonly counter_of: string;
  readonly workspace_id: string | null;
  /** The campaign or autoresponder. */
  readonly origin_id: string | null;
  readonly domain: string | null;
  readonly counter: string;
  readonly kept: number;
  readonly counted: number;
}

export function addDoctorCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("doctor")
    .description("check the installation; fails when something is wrong")
    .requiredOption(
      "--counters",
      "compare the counters of campaigns, autoresponders, lists and reports with the message log",
    )
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      const miscounts = await withDatabase(environment, findMiscounts, patient);
      if (options.json) stdout.write(json(miscounts));
      else if (miscounts.length > 0) stdout.write(table(columns, miscounts));
      else
        stdout.write(
          "The counters of all campaigns, autoresponders, lists and reports agree with the message log.\n",
        );
      if (miscounts.length > 0) throw new Error(`${miscounts.length} counters differ from the message log`);
    });
}

async function findMiscounts(db: Queryable): Promise<Miscount[]> {
  const ofCampaigns = await findOriginMiscounts(db, "campaign");
  const ofAutoresponders = await findOriginMiscounts(db, "autoresponder");
  const ofReports = await findReportMiscounts(db);
  const ofLists = await findListMiscounts(db);
  return [
    ...[...ofCampaigns, ...ofAutoresponders].map((one) => ({ workspace_id: null, ...one })),
    ...[...ofReports, ...ofLists].map((one) => ({ origin_id: null, domain: null, ...one })),
  ];
}
