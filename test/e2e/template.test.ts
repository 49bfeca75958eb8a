/**
 * A template gives the same mail wherever it is used: as a preview, a test, a mail by the API, a campaign and a step of an
 * autoresponder. Only ids in links differ.
 */
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

const person = { email: "ada@example.test", first_name: "Zoë <3", custom_fields: { city: "Rom & mehr" } };
const items = [
  { name: "Tee", price: "3 €" },
  { name: "<Kuchen>", price: "4 €" },
];
const column = (content: string) => `<mj-section><mj-column>${content}</mj-column></mj-section>`;
const text = `<mj-text>Grüße, {{ first_name | default: "you" }} 🎉 aus {{ city }} ({{ email }}), {{ list_name }}</mj-text>`;
const loop = `{% for one in items %}<mj-text>{{ forloop.index }}. {{ one.name }}: {{ one.price }}</mj-text>{% endfor %}`;
const way = `<mj-text><a href="{{ unsubscribe_url }}">Abmelden</a> <a href="{{ view_in_browser_url }}">Im Browser</a></mj-text>`;
const button = `<mj-button href="https://shop.test/?q={{ city }}&amp;a=1">Mehr</mj-button>`;
const design = {
  version: 1,
  blocks: [
    { type: "heading", text: "Grüße, {{ first_name }} 🎉 aus {{ city }}" },
    {
      type: "text",
      html: '<p>Für <b>{{ email }}</b>, <a href="https://shop.test/?q={{ city }}">mehr</a> {{ list_name }}</p>',
    },
    { type: "html", html: "{% for one in items %}<p>{{ one.name }}: {{ one.price }}</p>{% endfor %}" },
    { type: "footer", html: "<p>Der Laden</p>", has_web_view: true },
  ],
};
const html = `<!doctype html><html><body>\n<h1>{{ first_name }}</h1>{% for one in items %}<p>{{ one.name }}</p>{% endfor %}
<p>{{ city }} {{ email }} {{ list_name }} <a href="{{ unsubscribe_url }}">Abmelden</a>
.leading dot and ${"a long line ".repeat(120)}</p></body></html>`;

const forms: readonly (readonly [string, object, object | null])[] = [
  [
    "HTML with a text of its own",
    { html_content: html, text_content: "{{ first_name }} {{ city }}: {{ unsubscribe_url }}" },
    null,
  ],
  [
    "MJML in a layout",
    { mjml: column(text + loop + button) },
    { mjml: `<mjml><mj-body>{{ content }}${column(way)}</mj-body></mjml>` },
  ],
  ["a design", { design }, null],
];

/** What a mailbox shows. */
async function read(raw: string | Uint8Array = "") {
  const { html = "", text = "", subject = "" } = await PostalMime.parse(raw);
  return { subject, html: lines(html), text: lines(text) };
}
const lines = (part: string) => part.replaceAll("\r\n", "\n").trimEnd();
/** Replaces the ids of a mail in its links by those of a test. */
const withoutIds = (part: string) =>
  part.replaceAll(/(https:\/\/post\.test\/[uv]\/)[\w-]{56}(\.[\w-]+)?/g, "$1test");

let series = 0;

test.each(forms)(
  "%s: preview, test, API, campaign and autoresponder are equal",
  async (_what, body, layout) => {
    series += 1;
    const domain = `shop${series}.test`;
    await addVerifiedDomain(program.call, dns, domain);
    const from_email = `news@${domain}`;
    const list = await post("/mailing-lists", { name: "Neuigkeiten & mehr" });
    await post(`/mailing-lists/${list.id}/custom-fields`, {
      field_name: "city",
      field_label: "City",
      field_type: "text",
    });
    const around = layout && (await post("/templates", { kind: "layout", name: "Rahmen", ...layout }));
    const template = await post("/templates", {
      name: "Gruß",
      subject: "Grüße an {{ first_name }} aus {{ city }}",
      preheader: "Für {{ first_name }} & alle",
      layout_id: around?.id,
      test_data: { items, list_name: list.name },
      ...body,
    });
    const untracked = { enable_open_tracking: false, enable_click_tracking: false };
    // The data of a mail to a list are those of people: the loop shows nothing there, and nothing by the API.
    const values = { first_name: person.first_name, list_name: list.name, ...person.custom_fields };
    const links = {
      unsubscribe_url: "https://post.test/u/test",
      view_in_browser_url: "https://post.test/v/test",
    };

    const responder = await post("/autoresponders", {
      name: "Willkommen",
      mailing_list_id: list.id,
      from_email,
      trigger: { type: "subscribed" },
      steps: [{ template_id: template.id }],
      ...untracked,
    });
    await post(`/autoresponders/${responder.id}/activate`);
    const before = mx.messages.length;
    const next = async (at: number) =>
      eventually("the mail", async () =>
        mx.messages.length > before + at ? mx.messages[before + at] : false,
      );
    const { subscriber_id } = await post(`/mailing-lists/${list.id}/subscribers`, person);
    const ofSeries = await next(0);
    const campaign = await post("/campaigns", {
      name: "Juni",
      from_email,
      mailing_list_id: list.id,
      template_id: template.id,
      ...untracked,
    });
    await post(`/campaigns/${campaign.id}/send`);
    const ofCampaign = await next(1);
    const template_id = template.id;
    await post("/emails", {
      to: person.email,
      from_email,
      template: { id: template_id, variables: { ...values, ...links } },
    });
    const ofApi = await next(2);
    const test_data = { list_name: list.name };
    await post(`/templates/${template_id}/test`, { emails: [person.email], from_email, test_data });
    const ofTest = await next(3);

    const preview = await post("/render", {
      template_id,
      subscriber_id,
      test_data,
      mailing_list_id: list.id,
    });
    const shown = { subject: preview.subject, html: lines(preview.html), text: lines(preview.text) };
    const mails = await Promise.all([ofSeries, ofCampaign, ofApi, ofTest].map((one) => read(one.raw)));
    const [series0, campaign0, api, tested] = mails.map((mail) => ({
      ...mail,
      html: withoutIds(mail.html),
      text: withoutIds(mail.text),
    }));
    expect(shown.html).toContain("Zoë &lt;3");
    expect(shown.text).toContain("Rom & mehr");
    expect(api).toEqual(shown);
    expect(campaign0).toEqual(shown);
    expect(series0).toEqual(shown);
    expect(tested).toEqual({ ...shown, subject: `[Test] ${shown.subject}` });

    // With the test data of the template, preview, test and API show the loop.
    await post("/emails", {
      to: person.email,
      from_email,
      template: { id: template_id, variables: { ...values, ...links, items } },
    });
    const withItems = await read((await next(4)).raw);
    await post(`/templates/${template_id}/test`, { emails: [person.email], from_email });
    const testWithItems = await read((await next(5)).raw);
    const previewWithItems = await post("/render", { template_id, subscriber_id });
    expect(withItems.html).toContain("&lt;Kuchen&gt;");
    expect(lines(previewWithItems.html)).toBe(withItems.html);
    expect([testWithItems.html, testWithItems.text]).toEqual([withItems.html, withItems.text]);
  },
);
