/**
 * Measures the rendering of campaign mail: 10 KB of HTML with six merge tags and ten tracked links, subject and text,
 * with one MAC per mail, as in sending. The yardstick is LiquidJS with its own escaping on the same HTML, without links,
 * subject and text. Runs of both alternate on one core.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { Liquid } from "liquidjs";
import { compileContent } from "#sending/content/compile.ts";
import { footerOf } from "#sending/content/load-footer.ts";
import { type RecipientValues, renderContent } from "#sending/content/render.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const RUNS = 5;
const MAILS = 50_000;
const HTML_LENGTH = 10_000;
const LINKS = 10;
const LEAST_RATIO = 1.5;

export const campaignSubject = "Offers for {{ first_name }}";
const tags = [
  '{{ first_name | default: "friend" }}',
  "{{ last_name }}",
  "{{ email }}",
  "{{ city }}",
  "{{ custom_fields.plan }}",
  "{{ list_name }}",
];
const options = {
  tracksOpens: true,
  tracksClicks: true,
  footer: footerOf({ language: "en", fields: [] }),
  fields: new Set(["city", "plan"]),
  timezone: "UTC",
};

export async function benchRender(): Promise<Figure[]> {
  const html = campaignHtml();
  const compiled = compileContent(
    { subject: campaignSubject, html_content: html, text_content: null },
    options,
  );
  if (!compiled.ok || compiled.content.facts.links.length !== LINKS)
    throw new Error("the rendered mail is wrong");
  const { content } = compiled;
  const key = createSecretKey(randomBytes(32));
  const liquid = new Liquid({ outputEscape: "escape" });
  const templates = liquid.parse(html);

  const ours = (number: number) => {
    const rendered = renderContent(content, recipient(number), linksOf(number, key));
    return rendered.ok ? (rendered.html?.length ?? 0) : 0;
  };
  const plain = (number: number) => {
    const { custom_fields, ...values } = recipient(number);
    const text: string = liquid.renderSync(templates, { ...values, ...custom_fields, custom_fields });
    return text.length;
  };
  const runs = Array.from({ length: RUNS }, () => ({ ours: rateOf(ours), plain: rateOf(plain) }));
  const middle = medianBy(runs, (run) => run.ours / run.plain);
  const ratio = middle.ours / middle.plain;
  return [
    {
      what: "render, 10 KB, 6 tags, 10 links, text",
      measured: `${grouped(middle.ours)} mails/s`,
      yardstick: `liquidjs, HTML alone ${grouped(middle.plain)}/s`,
      ratio,
      aim: `ratio ≥ ${LEAST_RATIO}`,
      isMet: ratio >= LEAST_RATIO,
    },
  ];
}

/** The usual body with merge tags and LINKS tracked links. */
export function campaignHtml(): string {
  let tag = 0;
  let link = 0;
  return htmlOfLength(HTML_LENGTH)
    .replaceAll("Hello Ada", () => `Hello ${tags[tag++] ?? "Ada"}`)
    .replaceAll("<a ", () => (link++ < LINKS ? "<a " : "<a data-no-track "));
}

function recipient(number: number): RecipientValues {
  return {
    email: `reader${number}@example.com`,
    first_name: number % 3 === 0 ? null : `Ada ${number}`,
    last_name: "O'Neill",
    custom_fields: { city: "Fish & Chips", plan: number },
    list_name: "News",
    campaign_name: "Spring",
  };
}

function linksOf(number: number, key: KeyObject): MailLinks {
  const token = createHmac("sha256", key).update(String(number)).digest("base64url");
  const clicks = `https://links.example.com/c/${token}/`;
  return {
    unsubscribe: `https://links.example.com/u/${token}`,
    view: `https://links.example.com/v/${token}`,
    pixel: `https://links.example.com/o/${token}.gif`,
    tracked: (index) => clicks + index,
  };
}

/** Mails per second. */
function rateOf(render: (number: number) => number): number {
  let characters = 0;
  const from = performance.now();
  for (let number = 0; number < MAILS; number++) characters += render(number);
  if (characters < MAILS * HTML_LENGTH * 0.9) throw new Error("the mails are too short");
  return MAILS / ((performance.now() - from) / 1000);
}
