/** A campaign for the fault scripts: made, sent and judged through what a client and a receiver see, and the log. */
import sql from "sql-template-tag";
import type { MailCount } from "#test/support/counting-mx.ts";
import { eventually } from "#test/support/eventually.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { brokenInvariants, countStates } from "./invariants.ts";
import { inDatabase, recipientDomain, type Stage, say } from "./stage.ts";
import { findMiscarried } from "./tally.ts";

const SENDER_DOMAIN = "shop.test";
const IMPORT_MS = 120_000;
const SENT_MS = 600_000;
const RETRY_MS = 250;

/** A call that must succeed; gives its data. */
async function ask({ program }: Stage, method: string, path: string, body?: unknown) {
  const answer = await program.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** A draft to a list of so many people, from a verified domain; gives its id. */
export async function draftCampaign(stage: Stage, recipients: number): Promise<string> {
  await addVerifiedDomain(stage.program.call, stage.dns, SENDER_DOMAIN);

  const { id: list } = await ask(stage, "POST", "/mailing-lists", { name: "Everybody" });
  const people = Array.from({ length: recipients }, (_, at) => `user${at}@${recipientDomain(at)},Name ${at}`);
  const form = new FormData();
  form.append("csvFile", new Blob([`Email,First\n${people.join("\n")}\n`]), "people.csv");
  const { job_id } = await ask(stage, "POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  const isImported = async () => (await ask(stage, "GET", `/jobs/${job_id}`)).status === "completed";
  await eventually("the import to end", isImported, IMPORT_MS);
  const { id } = await ask(stage, "POST", "/campaigns", {
    name: "Killed",
    subject: "News for {{ first_name }}",
    from_email: `news@${SENDER_DOMAIN}`,
    mailing_list_id: list,
    html_content: '<p>Hello {{ first_name }}, <a href="https://shop.test/sale">the sale</a></p>\n'.repeat(20),
  });
  return id;
}

/** Asks until there is an answer, whoever is killed meanwhile. 409: an answer that was lost had been yes. */
export async function sendCampaign(stage: Stage, id: string): Promise<void> {
  await eventually(
    "the campaign to be sent",
    async () => {
      const answer = await stage.program.call("POST", `/campaigns/${id}/send`).catch(() => null);
      if (answer === null || answer.status === 503) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        return false;
      }
      if (answer.status !== 200 && answer.status !== 409) throw new Error(JSON.stringify(answer.body));
      return true;
    },
    SENT_MS,
  );
}

/** Waits for the status `sent`, for which nobody does anything; gives the sentence about it when it does not come. */
export function waitForSent(stage: Stage, id: string): Promise<string[]> {
  // Right after the last kill nobody may answer yet.
  const isSent = () =>
    ask(stage, "GET", `/campaigns/${id}`).then(
      ({ status }) => status === "sent",
      () => false,
    );
  return eventually("the campaign to be sent", isSent, SENT_MS).then(
    () => [],
    (fault: Error) => [fault.message],
  );
}

/** Stops the program and tells the figures; one sentence for each promise that was not kept. */
export async function judgeCampaign(
  stage: Stage,
  id: string,
  { recipients, count, excused }: { recipients: number; count: MailCount; excused?: ReadonlySet<string> },
): Promise<string[]> {
  const figures = await ask(stage, "GET", `/campaigns/${id}`);
  const miscounts = await stage.program.command("doctor", "--counters").then(
    (text) => {
      say(`counters             ${text.trim()}`);
      return [];
    },
    (fault: Error & { stdout?: string }) => [`doctor --counters: ${fault.stdout ?? ""}${fault.message}`],
  );
  await stage.program.kill("SIGTERM");
  const { states, invariants, messages } = await inDatabase(stage, async (db) => ({
    states: await countStates(db),
    invariants: await brokenInvariants(db),
    messages: await db.rows<{ id: string; email: string }>(sql`
      select id, localpart || '@' || domain as email from messages where source = 'campaign' and origin_id = ${id}`),
  }));
  say(`campaign             ${figures.status}, ${figures.delivered_count} delivered`);
  say(`in the database      ${JSON.stringify(states)}`);
  const ids = messages.map((message) => `${message.id}@${SENDER_DOMAIN}`);
  const reached = new Set(messages.map(({ email }) => email)).size;
  return [
    ...miscounts,
    ...(reached === recipients && messages.length === recipients
      ? []
      : [`${messages.length} messages to ${reached} of ${recipients} recipients`]),
    ...(figures.delivered_count === recipients ? [] : [`${figures.delivered_count} counted as delivered`]),
    ...findMiscarried(count, ids, excused),
    ...invariants,
  ];
}
