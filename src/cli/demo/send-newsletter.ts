/** The sample workspace: confirms a sender, imports a list, creates a segment and sends a campaign. */
import { type DemoApi, until } from "./api-client.ts";
import { sampleCsv } from "./people.ts";

const SENDER = "news@shop.example";
/** Statuses of a campaign that is not sent yet. */
const OPEN = ["draft", "scheduled", "sending"];

const html = `<html><body>
<h1>Hello {{ first_name | default: "there" }}</h1>
<p>What is new in {{ city | default: "your city" }} this month:</p>
<p><a href="https://shop.example/new?city={{ city | url_encode }}">What is new</a> ·
<a href="https://shop.example/sale?a=1&amp;b=2">The sale</a></p>
</body></html>`;

/** Confirms the sender as its owner does: opens the link in the mail and presses the button. */
export async function confirmSender(api: DemoApi): Promise<string> {
  const { ask } = api;
  await ask("POST", "/verified-senders", { email: SENDER, from_name: "The Shop" });
  const link = await until("the mail that confirms the sender", async () => {
    const { messages } = await ask("GET", "/messages?source=platform&status=delivered");
    const mail = messages[0] && (await captured(api, messages[0].id));
    return /http:\/\/\S+\/verify-sender\/\S+/.exec(mail?.text ?? "")?.[0] ?? false;
  });
  await fetch(link, { method: "POST", body: new URLSearchParams() });
  return SENDER;
}

export interface SampleAudience {
  readonly list: string;
  readonly segment: string;
  readonly counts: { readonly created: number; readonly duplicates: number; readonly invalid: number };
  readonly inSegment: number;
}

/** Creates a list with two custom fields, imports people into it, and creates a segment. */
export async function buildAudience({ ask }: DemoApi): Promise<SampleAudience> {
  const { id: list } = await ask("POST", "/mailing-lists", { name: "Newsletter" });
  const field = (body: object) => ask("POST", `/mailing-lists/${list}/custom-fields`, body);
  await field({ field_name: "city", field_label: "City", field_type: "text" });
  const plan = { field_name: "plan", field_label: "Plan", field_type: "select" };
  await field({ ...plan, field_options: ["free", "pro"] });

  const form = new FormData();
  form.append("csvFile", new Blob([sampleCsv()]), "people.csv");
  const { job_id } = await ask("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  const job = await until("the import", async () => {
    const now = await ask("GET", `/jobs/${job_id}`);
    return !["pending", "processing"].includes(now.status) && now;
  });
  if (job.status !== "completed") throw new Error(`the import is ${job.status}`);

  const rules = [{ field: "custom_fields.plan", operator: "is", value: "pro" }];
  const conditions = { logic: "and", rules };
  const preview = await ask("POST", `/mailing-lists/${list}/segments/preview`, { conditions });
  const segment = await ask("POST", `/mailing-lists/${list}/segments`, { name: "Customers", conditions });
  return { list, segment: segment.id, counts: job.counts, inSegment: preview.subscriber_count };
}

/** Sends a campaign to the segment and waits until it is sent. Returns its id. */
export async function sendNewsletter(
  { ask }: DemoApi,
  { list, segment }: SampleAudience,
  sender: string,
): Promise<string> {
  const { id } = await ask("POST", "/campaigns", {
    name: "What is new",
    subject: 'What is new for {{ first_name | default: "you" }}',
    from_email: sender,
    from_name: "The Shop",
    recipient_type: "segment",
    mailing_list_id: list,
    segment_id: segment,
    html_content: html,
    enable_open_tracking: true,
    enable_click_tracking: true,
  });
  await ask("POST", `/campaigns/${id}/send`);
  const { status } = await until("the campaign to be sent", async () => {
    const now = await ask("GET", `/campaigns/${id}`);
    return !OPEN.includes(now.status) && now;
  });
  if (status !== "sent") throw new Error(`the campaign is ${status}`);
  return id;
}

export interface Captured {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly text: string | null;
  readonly html: string | null;
}

/** Reads a mail from the local inbox. */
export async function captured({ url, inboxToken }: DemoApi, id: string): Promise<Captured> {
  const response = await fetch(`${url}/inbox/messages/${id}`, {
    headers: { Authorization: `Bearer ${inboxToken}` },
  });
  if (!response.ok) throw new Error(`message ${id} is not in the local inbox`);
  return (await response.json()) as Captured;
}
