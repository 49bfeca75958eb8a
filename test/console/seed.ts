/** What the pages of the console show in tests: one or more of each thing, made through the API. */
import sql from "sql-template-tag";
import { eventually } from "#test/support/eventually.ts";
import type { Scene } from "#test/support/scene.ts";

export interface Seed {
  /** The id of the workspace. */
  readonly workspace: string;
  /** An id of each kind by the folder of its page (`lists`, `people` …), and by name what is in another state (`sent`). */
  readonly ids: Readonly<Record<string, string>>;
}

/** A text for a place, such as the name of a list; `number` tells those of one place apart. */
export type Words = (place: string, number: number) => string;

/** Texts as people write them, some of them long. */
export const plainWords: Words = (place, number) =>
  number % 3 === 2
    ? `${place} ${number} with a name that is a good deal longer than the place it is shown in, Rechtsschutzversicherungsgesellschaften`
    : `${place} ${number}`;

const PATIENCE_MS = 60_000;
const PEOPLE = 30;
const MESSAGES = 25;
/** The tags of refused and deferred recipients in capture mode (delivery/capture/simulated-replies.ts). */
const tags = ["", "", "+bounce", "", "+later", "+full"];

/** The address that campaigns are from. */
export const SENDER = "news@shop.example";

/** Adds the address, confirmed as if its owner had opened the link in the mail. */
export async function addSender({ program: { call }, database }: Scene, from_name: string): Promise<void> {
  const { body } = await call("POST", "/verified-senders", { email: SENDER, from_name });
  await database.run(sql`
    update verified_senders set is_verified = true, verified_at = now() where id = ${body.data.id}`);
}

/** Fills the first workspace. The texts are those of `words`. */
export async function seedWorkspace(scene: Scene, workspace: string, words: Words): Promise<Seed> {
  const { call } = scene.program;
  const make = async (path: string, body: object) => {
    const answer = await call("POST", path, body);
    if (answer.status < 200 || answer.status > 202)
      throw new Error(`POST ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const { id: list } = await make("/mailing-lists", {
    name: words("Customers", 0),
    description: words("Description of a list", 0),
  });
  for (const number of [1, 2, 3]) await make("/mailing-lists", { name: words("List", number) });
  const fields = `/mailing-lists/${list}/custom-fields`;
  await make(fields, { field_name: "city", field_label: words("City", 0), field_type: "text" });
  // One after another, so that lists have the same order in every run.
  const people: { readonly subscriber_id: string }[] = [];
  for (const number of numbers(PEOPLE))
    people.push(
      await make(`/mailing-lists/${list}/subscribers`, {
        email: `person${number}@example.com`,
        first_name: words("Ada", number),
        last_name: words("Lovelace", number),
        custom_fields: { city: words("Paris", number) },
      }),
    );
  const rule = { field: "email_domain", operator: "equals", value: "example.com" };
  const { id: segment } = await make(`/mailing-lists/${list}/segments`, {
    name: words("Segment", 0),
    description: words("Description of a segment", 0),
    conditions: { logic: "and", rules: [rule] },
  });
  const { id: suppression } = await make("/suppression-lists", { name: words("Former customers", 0) });
  await make(`/suppression-lists/${suppression}/entries`, { entries: "gone@example.com\n*@competitor.test" });
  const { id: domain } = await make("/sending-domains", { domain: "shop.example" });
  await make(`/sending-domains/${domain}/verify`, {});
  await make("/api-keys", { name: words("Web shop", 0), permissions: ["emails:send"] });
  await make("/roles", { name: words("Editor", 0), permissions: ["campaigns:read"] });
  await make("/team/invitations", { email: "grace@example.com", role: "support" });
  const messages = await sendMessages(make, words);
  await addSender(scene, words("The shop", 0));
  // Braces are merge tags there, and those of the attack corpus are refused.
  const inMail = (place: string) => words(place, 0).replaceAll(/[{}]/g, "");
  const write = (place: string) =>
    make("/campaigns", {
      name: words(place, 0),
      subject: inMail(`${place} is here`),
      from_email: SENDER,
      mailing_list_id: list,
      html_content: `<h1>Hello</h1><p>${inMail("Text of a mail")} <a href="https://shop.example/new">New</a></p>`,
    });
  const { id: campaign } = await write("Spring");
  const { id: sent } = await write("Winter");
  const { id: sms } = await make("/campaigns", {
    name: words("Text message", 0),
    subject: inMail("Text message"),
    from_email: SENDER,
    mailing_list_id: list,
    message_type: "sms",
    phone_field_name: "phone",
    text_content: inMail("Text of an SMS"),
  });
  await make(`/campaigns/${sent}/send`, {});
  const { job_id: job } = await make(`/mailing-lists/${list}/subscribers/export-async`, {});
  await eventually(
    "the campaign to be sent",
    async () => (await call("GET", `/campaigns/${sent}`)).body.data.status === "sent",
    PATIENCE_MS,
  );
  await eventually(
    "the export to be written",
    async () => (await call("GET", `/jobs/${job}`)).body.data.status === "completed",
    PATIENCE_MS,
  );
  await eventually(
    "the messages to be tried",
    async () => {
      const { body } = await call("GET", "/messages?limit=100");
      const { messages: rows } = body.data as { messages: readonly { readonly status: string }[] };
      return rows.length >= MESSAGES && rows.every(({ status }) => status !== "queued");
    },
    PATIENCE_MS,
  );
  return {
    workspace,
    ids: {
      campaigns: campaign,
      domains: domain,
      lists: list,
      messages: messages[2]?.id ?? "",
      people: people[2]?.subscriber_id ?? "",
      segments: segment,
      sent,
      sms,
      suppression,
    },
  };
}

async function sendMessages(
  make: (path: string, body: object) => Promise<{ readonly id: string }>,
  words: Words,
): Promise<{ readonly id: string }[]> {
  const sent = [];
  for (const number of numbers(MESSAGES))
    sent.push(
      await make("/emails/send", {
        to: `reader${number}${tags[number % tags.length]}@example.com`,
        subject: words("Your order", number),
        from_name: words("The shop", number),
        body: `<p>Hello</p><p>${words("Thank you", number)}</p>`,
      }),
    );
  return sent;
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
