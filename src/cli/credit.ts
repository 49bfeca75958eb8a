/** `posthaste credit`: records money that the operator received outside the service, such as a bank transfer. */

import type { Command } from "commander";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { formatMoney } from "#workspace/billing/format-money.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { readAmount, topUp } from "#workspace/billing/top-up.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withInstallation } from "./command/database.ts";
import { argument, readWorkspaceId } from "./command/option-parsers.ts";
import { json } from "./command/output.ts";

interface CreditOptions {
  readonly workspace: WorkspaceId;
  readonly amount: string;
  readonly note: string;
  readonly json?: true;
}

export function addCreditCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("credit")
    .description("record a top-up: it adds to the balance at once and pays open subscription fees")
    .requiredOption("--workspace <id>", "the workspace's id", readWorkspaceId)
    .requiredOption("--amount <dollars>", "such as 10.00", argument(readAmount))
    .option("--note <text>", "description of the ledger entry", "Top-up recorded by the operator")
    .option("--json", "print JSON")
    .action(async ({ workspace, amount, note: description, ...options }: CreditOptions) => {
      const now = systemClock.now();
      const plans = readPlans(readConfig(environment).PLANS_FILE);
      const credited = await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          const given = { amount, gateway: "manual", description } as const;
          const { transactionId } = await topUp(tx, plans, workspace, given, now);
          const { account } = await getMeterReading(tx, plans, workspace, now);
          return { transaction_id: transactionId, amount, balance: formatMoney(account.balance) };
        }),
      );
      stdout.write(
        options.json ? json(credited) : `Credited ${amount} USD. The balance is ${credited.balance} USD.\n`,
      );
    });
}
