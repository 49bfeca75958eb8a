/** `posthaste workspace …`: the tenants of this installation. */

import type { Command } from "commander";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { planNameOf } from "#workspace/billing/plan-of-account.ts";
import { readPlans } from "#workspace/billing/plans-file.ts";
import { listSubscriptions } from "#workspace/billing/subscription-store.ts";
import { changeWorkspace, type WorkspaceChanges } from "#workspace/change-workspace.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { readName } from "#workspace/read-display-name.ts";
import { listWorkspaces } from "#workspace/workspaces/store.ts";
import {
  planNames,
  readDefaultSender,
  readHourlyCap,
  readNotifyEmail,
  readPlanName,
  readRetryHours,
  readTimezone,
  readTracksTransactional,
  type Workspace,
} from "#workspace/workspaces/workspace.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabase, withInstallation } from "./command/database.ts";
import { argument, readWorkspaceId } from "./command/option-parsers.ts";
import { json, table } from "./command/output.ts";

const columns = [
  "id",
  "name",
  "plan",
  "plan_set",
  "timezone",
  "hourly_cap",
  "notify_email",
  "default_sender",
  "retry_hours",
  "tracks_transactional",
  "is_suspended",
  "created_at",
] as const;
const planHelp = `one of ${planNames.join(", ")}`;
const zoneHelp = "IANA time zone, such as Europe/Paris";
const jsonHelp = "print JSON";

interface Shown {
  readonly json?: true;
}

interface Named extends Shown {
  readonly workspace: WorkspaceId;
}

/** A workspace whose `plan` is the plan in force. */
interface InForce extends Workspace {
  /** The plan set by the operator, if a subscription overrides it; otherwise null. */
  readonly plan_set: Workspace["plan"] | null;
}

async function withPlans(db: Queryable, workspaces: readonly Workspace[]): Promise<InForce[]> {
  const now = systemClock.now();
  const subscriptions = await listSubscriptions(
    db,
    workspaces.map(({ id }) => id),
  );
  return workspaces.map((workspace) => {
    const subscription = subscriptions.get(workspace.id) ?? null;
    const plan = planNameOf({ plan: workspace.plan, subscription }, now);
    return { ...workspace, plan, plan_set: plan === workspace.plan ? null : workspace.plan };
  });
}

export function addWorkspaceCommands(program: Command, { stdout, environment }: CliOptions): void {
  const workspace = program.command("workspace").description("create, list and change workspaces");

  const show = (workspaces: readonly InForce[], shown: unknown, options: Shown) => {
    stdout.write(options.json ? json(shown) : table(columns, workspaces));
  };

  const change = async (options: Named, changes: WorkspaceChanges): Promise<void> => {
    const plans = readPlans(readConfig(environment).PLANS_FILE);
    const changed = await withInstallation(environment, async (db) =>
      withPlans(db, [await changeWorkspace(db, options.workspace, changes, { clock: systemClock, plans })]),
    );
    show(changed, changed[0], options);
  };

  workspace
    .command("create")
    .description("create a workspace with an API key that has all permissions")
    .requiredOption("--name <name>", "its name", argument(readName))
    .option("--plan <plan>", planHelp, argument(readPlanName), "free")
    .option("--timezone <zone>", zoneHelp, argument(readTimezone), "UTC")
    .option("--json", jsonHelp)
    .action(async (options: Shown & Pick<Workspace, "name" | "plan" | "timezone">) => {
      const { name, plan, timezone } = options;
      const made = await withDatabase(environment, (db) =>
        db.transaction((tx) => createWorkspace(tx, { name, plan, timezone }, systemClock)),
      );
      const workspace = { ...made.workspace, plan_set: null };
      show([workspace], { ...workspace, key: made.key.key }, options);
      if (!options.json) stdout.write(`\nIts API key, shown only now: ${made.key.key}\n`);
    });

  workspace
    .command("list")
    .description("list all workspaces")
    .option("--json", jsonHelp)
    .action(async (options: Shown) => {
      const workspaces = await withInstallation(environment, async (db) =>
        withPlans(db, await listWorkspaces(db)),
      );
      show(workspaces, workspaces, options);
    });

  workspace
    .command("set")
    .description("change the given settings of a workspace")
    .requiredOption("--workspace <id>", "its id", readWorkspaceId)
    .option("--plan <plan>", planHelp, argument(readPlanName))
    .option("--timezone <zone>", zoneHelp, argument(readTimezone))
    .option("--hourly-cap <messages>", "most messages per hour, or none", argument(readHourlyCap))
    .option(
      "--notify-email <address>",
      "address for notices to the workspace, or none",
      argument(readNotifyEmail),
    )
    .option(
      "--default-sender <address>",
      "default From of transactional mail, or none",
      argument(readDefaultSender),
    )
    .option("--retry-hours <hours>", "how long deferred mail is retried", argument(readRetryHours))
    .option(
      "--track-transactional <on|off>",
      "whether opens and clicks of transactional mail are recorded",
      argument(readTracksTransactional),
    )
    .option("--json", jsonHelp)
    .action(async (options: Named & SetOptions, command: Command) => {
      const { plan, timezone, hourlyCap, notifyEmail, defaultSender, retryHours, trackTransactional } =
        options;
      const changes = {
        ...(plan !== undefined && { plan }),
        ...(timezone !== undefined && { timezone }),
        ...(hourlyCap !== undefined && { hourly_cap: orNull(hourlyCap) }),
        ...(notifyEmail !== undefined && { notify_email: orNull(notifyEmail) }),
        ...(defaultSender !== undefined && { default_sender: orNull(defaultSender) }),
        ...(retryHours !== undefined && { retry_hours: retryHours }),
        ...(trackTransactional !== undefined && { tracks_transactional: trackTransactional }),
      };
      if (Object.keys(changes).length === 0) {
        command.error("error: give at least one of the settings that --help lists");
      }
      await change(options, changes);
    });

  for (const [name, is_suspended, description] of [
    ["suspend", true, "suspend a workspace: it can read, but neither send nor change anything"],
    ["resume", false, "end the suspension of a workspace"],
  ] as const) {
    workspace
      .command(name)
      .description(description)
      .requiredOption("--workspace <id>", "its id", readWorkspaceId)
      .option("--json", jsonHelp)
      .action((options: Named) => change(options, { is_suspended }));
  }
}

interface SetOptions extends Partial<Pick<Workspace, "plan" | "timezone">> {
  /** "none" in place of null, which commander treats as a value that could not be parsed. */
  readonly hourlyCap?: number | "none";
  readonly notifyEmail?: string;
  readonly defaultSender?: string;
  readonly retryHours?: number;
  readonly trackTransactional?: boolean;
}

const orNull = <Value>(given: Value | "none"): Value | null => (given === "none" ? null : given);
