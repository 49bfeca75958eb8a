/** A campaign for the fault scripts: creates it, sends it, and checks API, receiver and message log afterwards. */
import sql from "sql-template-tag";
import type { MailCount } from "#test/support/counting-mx.ts";
import { eventually } from "#test/support/eventually.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { type FaultRun, inDatabase, recipientDomain, say } from "./fault-run.ts";
import { brokenInvariants, countStates } from "./invariants.ts";
import { findLostOrDuplicated } from "./lost-or-duplicated.ts";

const SENDER_DOMAIN = "shop.test";
const IMPORT_MS = 120_000;
const SENT_MS = 600_000;
const RETRY_MS = 250;

/** Makes a call that must succeed and returns its data. */
async function ask({ program }: FaultRun, method: string, path: string, body?: unknown) {
  const answer = await program.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** Imports so many people into a list and drafts a campaign to it from a verified domain. Returns the campaign's id. */
export async function draftCampaign(run: FaultRun, recipients: number): Promise<string> {
  await addVerifiedDomain(run.program.call, run.dns, SENDER_DOMAIN);

  const { id: list } = await ask(run, "POST", "/mailing-lists", { name: "Everybody" });
  const people = Array.from({ length: recipients }, (_, at) => `user${at}@${recipientDomain(at)},Name ${at}`);
  const form = new FormData();
  form.append("csvFile", new Blob([`Email,First\n${people.join("\n")}\n`]), "people.csv");
  const { job_id } = await ask(run, "POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  const isImported = async () => (await ask(run, "GET", `/jobs/${job_id}`)).status === "completed";
  await eventually("the import to end", isImported, IMPORT_MS);
  const { id } = await ask(run, "POST", "/campaigns", {
    name: "Killed",
    subject: "Offers for {{ first_name }}",
    from_email: `news@${SENDER_DOMAIN}`,
    mailing_list_id: list,
    html_content: '<p>Hello {{ first_name }}, <a href="https://shop.test/sale">the sale</a></p>\n'.repeat(20),
  });
  return id;
}

/** Repeats the call until it is answered, because processes are being killed. 409: an earlier call had succeeded. */
export async function sendCampaign(run: FaultRun, id: string): Promise<void> {
  await eventually(
    "the campaign to be sent",
    async () => {
      const answer = await run.program.call("POST", `/campaigns/${id}/send`).catch(() => null);
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

/** Waits until the campaign is `sent`. Returns an error text in case of a timeout. */
export function waitForSent(run: FaultRun, id: string): Promise<string[]> {
  // Right after the last kill the API may not answer yet.
  const isSent = () =>
    ask(run, "GET", `/campaigns/${id}`).then(
      ({ status }) => status === "sent",
      () => false,
    );
  return eventually("the campaign to be sent", isSent, SENT_MS).then(
    () => [],
    (fault: Error) => [fault.message],
  );
}

/** Stops the program, prints the figures, and returns one sentence for each broken promise. */
export async function checkCampaign(
  run: FaultRun,
  id: string,
  {
    recipients,
    count,
    excused,
  }: { recipients: number; count: MailCount; excused?: ReadonlyMap<string, number> },
): Promise<string[]> {
  const figures = await ask(run, "GET", `/campaigns/${id}`);
  const miscounts = await run.program.command("doctor", "--counters").then(
    (text) => {
      say(`counters             ${text.trim()}`);
      return [];
    },
    (fault: Error & { stdout?: string }) => [`doctor --counters: ${fault.stdout ?? ""}${fault.message}`],
  );
  await run.program.kill("SIGTERM");
  const { states, invariants, messages } = await inDatabase(run, async (db) => ({
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
    ...findLostOrDuplicated(count, ids, excused),
    ...invariants,
  ];
}
