/**
 * `posthaste demo`: a service in capture mode, a sample workspace, and a campaign to 1,000 people who open, click,
 * bounce and unsubscribe. It uses the public API and pages only; nothing leaves the machine.
 */

import { type Command, InvalidArgumentError } from "commander";
import { inboxAddress, inboxToken } from "#delivery/capture/inbox-access.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabase } from "./command/database.ts";
import { demoApi, until } from "./demo/api-client.ts";
import { people } from "./demo/people.ts";
import { type Done, readMails } from "./demo/readers.ts";
import { buildAudience, confirmSender, type SampleAudience, sendNewsletter } from "./demo/send-newsletter.ts";
import { type DemoService, startDemoService } from "./demo/start-service.ts";

interface DemoOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** Whether the service keeps running afterwards. Default: if standard output is a terminal. */
  readonly stay?: boolean;
}

export function addDemoCommand(program: Command, { stdout, environment }: CliOptions): void {
  const startedAt = performance.now();
  const say = (text: string) => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    stdout.write(`${String(seconds).padStart(3)} s  ${text}\n`);
  };

  program
    .command("demo")
    .description("send a sample campaign to 1,000 people who exist in the local inbox only")
    .option("--data-dir <folder>", "folder of its database; each run adds a workspace", "data/demo")
    .option("--port <port>", "port to listen on (default: 8080, or a free one)", readPort)
    .option("--stay", "keep the service running until Ctrl-C (default: at a terminal)")
    .option("--no-stay", "stop it at the end")
    .action(async ({ dataDir, port, stay = stdout.isTTY === true }: DemoOptions) => {
      say("starting a separate service in capture mode: nothing leaves the machine");
      const stopping = Promise.withResolvers<false>();
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        process.once(signal, () => stopping.resolve(false));
      const service = await startDemoService(environment, dataDir, port ?? null);
      try {
        const isOver = await Promise.race([play(service, stay).then(() => true), stopping.promise]);
        if (!isOver) stdout.write("Interrupted.\n");
        else if (stay) {
          stdout.write("The service runs until you press Ctrl-C.\n");
          await Promise.race([stopping.promise, service.ended]);
        } else {
          stdout.write(
            "The service stops with the demo. `npm run demo -- --stay` keeps it running and prints the address of the inbox.\n",
          );
        }
      } finally {
        await service.stop();
      }
    });

  async function play(service: DemoService, stay: boolean): Promise<void> {
    const { workspace, key } = await withDatabase(service.environment, (db) =>
      db.transaction((tx) =>
        createWorkspace(tx, { name: "Demo", plan: "enterprise", timezone: "UTC" }, systemClock),
      ),
    );
    const api = demoApi(service.url, key.key, inboxToken(readConfig(service.environment)).value);
    say(`API key of workspace ${workspace.id}: ${key.key}`);
    const sender = await confirmSender(api);
    say(`${sender} is confirmed with the link in the mail it received`);
    const audience = await buildAudience(api);
    const { created, duplicates, invalid } = audience.counts;
    say(`import: ${created} of ${people} people, ${duplicates} duplicate, ${invalid} rows refused`);
    say(`segment: ${audience.inSegment} customers`);
    const campaign = await sendNewsletter(api, audience, sender);
    say("the campaign is sent; recipients open and click");
    const done = await readMails(api, campaign);
    const figures = await until("the campaign's counters to match the opens and clicks", async () => {
      const now: Figures = await api.ask("GET", `/campaigns/${campaign}`);
      return agree(now, done) && now;
    });
    say(`${done.machineOpens} opens by mail proxies are not counted`);
    stdout.write(demoSummary(service, api.key, audience, { id: campaign, ...figures }, stay));
  }
}

const shown = [
  ["recipients", "total_recipients"],
  ["delivered", "delivered_count"],
  ["bounced", "bounce_count"],
  ["opened", "unique_open_count"],
  ["clicks", "click_count"],
  ["clicked", "unique_click_count"],
  ["unsubscribed", "unsubscribe_count"],
] as const;

/** Counters of a campaign, as the API returns them. */
type Figures = Readonly<Record<(typeof shown)[number][1], number>>;

const agree = (figures: Figures, done: Done): boolean =>
  figures.unique_open_count === done.opens &&
  figures.click_count === done.clicks &&
  figures.unique_click_count === done.clickers &&
  figures.unsubscribe_count === done.unsubscribes;

/**
 * The last text that the demo prints.
 * @param stay whether the service keeps running: only then are its addresses printed
 */
export function demoSummary(
  service: Pick<DemoService, "url" | "logFile" | "environment">,
  key: string,
  audience: Pick<SampleAudience, "list" | "segment">,
  campaign: Figures & { readonly id: string },
  stay: boolean,
): string {
  const figures = shown.map(([name, field]) => `  ${name.padEnd(14)}${campaign[field]}`);
  const places = stay ? placesText(service, key, audience, campaign.id) : "";
  return `\n${figures.join("\n")}\n${places}\nThe service's log is ${service.logFile}.\n`;
}

function placesText(
  { url, environment }: Pick<DemoService, "url" | "environment">,
  key: string,
  { list, segment }: Pick<SampleAudience, "list" | "segment">,
  campaign: string,
): string {
  const curl = (path: string) => `  curl -H "X-API-Key: $KEY" "$URL/api/v1${path}"`;
  return `
Look at the mails and the API:

  ${inboxAddress(url, inboxToken(readConfig(environment)))}
  ${url}/docs

or ask:

  KEY=${key} URL=${url}
${curl(`/campaigns/${campaign}`)}
${curl(`/campaigns/${campaign}/activity`)}
${curl(`/campaigns/${campaign}/smtp-domain-stats`)}
${curl(`/campaigns/${campaign}/recent-activity`)}
${curl(`/campaigns/${campaign}/messages?status=bounced`)}
${curl(`/mailing-lists/${list}/segments/${segment}/subscribers`)}
`;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError("1 to 65535.");
  return port;
}
