/** The preview of a mail, its test and the mail that is sent are the same, except for ids and what a test may not have. */
import PostalMime from "postal-mime";
import { afterAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

const mx = await startFakeMx();
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port), PUBLIC_URL: "https://post.test" },
  zone: mailDomain("example.test"),
});
const { program, dns } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await mx.close();
});

const post = async (path: string, body?: object) => {
  const answer = await program.call("POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
};

const targets = ["https://shop.test/sale?a=1&b=2", "https://shop.test/über/Grüße"];
const html = `<!doctype html><html><head><title>June</title></head><body>
<h1>Grüße, {{ first_name | default: "you" }} 🎉</h1>
{% if city == "Rom" %}<p>Das Wetter in {{ city }}</p>{% else %}<p>Elsewhere</p>{% endif %}
<p><a href="https://shop.test/sale?a=1&amp;b=2">Sale</a> <a href="https://shop.test/über/Grüße">Mehr</a>
<img src="cid:logo" alt="Logo"> <a href="{{ view_in_browser_url }}">Browser</a></p>
<p>.leading dot and ${"a long line ".repeat(120)}</p></body></html>`;

/** What a mailbox shows, without what differs in every message. */
async function read(raw: Uint8Array | string) {
  const mail = await PostalMime.parse(raw);
  const varying =
    /^(received|date|message-id|dkim-signature|feedback-id|x-posthaste-|cfbl-|list-unsubscribe|content-type|subject)/;
  const lines = (text = "") => text.replaceAll("\r\n", "\n").trimEnd();
  return {
    subject: mail.subject,
    html: lines(mail.html),
    text: lines(mail.text),
    headers: mail.headers.filter(({ key }) => !varying.test(key)).map(({ key, value }) => `${key}: ${value}`),
    attachments: mail.attachments.map(({ filename, mimeType, disposition, contentId, content }) => ({
      filename,
      mimeType,
      disposition,
      contentId,
      content: Buffer.from(content as ArrayBuffer).toString("base64"),
    })),
    names: mail.headers.map(({ key }) => key),
  };
}

/** Replaces the tokens of a sent mail by those of a test, and tracked links by their targets. */
const withoutIds = (text: string) =>
  text
    .replaceAll(/https:\/\/post\.test\/c\/[\w-]+\/(\d+)/g, (_, index) =>
      (targets[Number(index)] ?? "").replaceAll("&", "&amp;"),
    )
    .replaceAll(/(https:\/\/post\.test\/[uv]\/)[\w-]{56}(\.[\w-]+)?/g, "$1test")
    .replaceAll(/<img [^>]*https:\/\/post\.test\/o\/[^>]*>/g, "");

test("preview, test and sent mail of a campaign with every feature are equal", async () => {
  await addVerifiedDomain(program.call, dns, "shop.test");
  const list = await post("/mailing-lists", { name: "Neuigkeiten" });
  await post(`/mailing-lists/${list.id}/custom-fields`, {
    field_name: "city",
    field_label: "City",
    field_type: "text",
  });
  const person = { email: "ada@example.test", first_name: "Ada <3", custom_fields: { city: "Rom" } };
  const { subscriber_id } = await post(`/mailing-lists/${list.id}/subscribers`, person);
  const file = { filename: "Übersicht.pdf", content_type: "application/pdf", content: "JVBERi0xLjQ=" };
  const logo = { filename: "logo.png", content_type: "image/png", content: "iVBORw0KGgo=" };
  const campaign = await post("/campaigns", {
    name: "Juni",
    subject: "Grüße an {{ first_name }} aus {{ city }}",
    from_email: "news@shop.test",
    from_name: "Der Laden",
    reply_to: "fragen@shop.test",
    mailing_list_id: list.id,
    html_content: html,
    enable_open_tracking: true,
    enable_click_tracking: true,
    use_custom_headers: true,
    custom_headers: "X-Season: Sommer",
    attachments: [file, { ...logo, disposition: "inline", content_id: "logo" }],
  });

  const preview = await post("/render", { campaign_id: campaign.id, subscriber_id });
  await post(`/campaigns/${campaign.id}/test`, { emails: [person.email] });
  const [tested] = await mx.waitForMessages(1);
  await post(`/campaigns/${campaign.id}/send`);
  const [, sent] = await eventually("both mails", async () => mx.messages.length === 2 && mx.messages);
  const [ofTest, ofSent] = await Promise.all([tested, sent].map((one) => read(one?.raw ?? "")));
  if (ofTest === undefined || ofSent === undefined) throw new Error("a mail is missing");

  expect(ofSent.html).toContain("https://post.test/c/");
  expect(ofSent.html).toContain("https://post.test/o/");
  const cleaned = { ...ofSent, html: withoutIds(ofSent.html), text: withoutIds(ofSent.text) };
  expect(cleaned.html).toBe(preview.html.trimEnd());
  expect(cleaned.text).toBe(preview.text.trimEnd());
  expect(cleaned.subject).toBe(preview.subject);
  expect({ ...ofTest, subject: "", names: [] }).toEqual({ ...cleaned, subject: "", names: [] });
  expect(ofTest.subject).toBe(`[Test] ${preview.subject}`);

  const shown = await read(
    preview.headers.map(({ name, value }: Record<string, string>) => `${name}: ${value}\r\n`).join(""),
  );
  expect(shown.headers).toEqual(ofSent.headers);
  const unsigned = ofSent.names.filter((name) => name !== "dkim-signature");
  expect(preview.headers.map(({ name }: Record<string, string>) => name?.toLowerCase())).toEqual(unsigned);
  // Only encoded ids and signatures differ in length.
  expect(Math.abs(preview.size - (sent?.raw.length ?? 0))).toBeLessThan(40);
  expect(preview.html_size).toBe(
    Buffer.byteLength(ofSent.html.replaceAll("\n", "\n")) +
      (preview.html.length - preview.html.trimEnd().length),
  );
});
