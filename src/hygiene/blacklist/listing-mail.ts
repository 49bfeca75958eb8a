/** The notice that the blacklists of a monitored target have changed. */
import { counted } from "#platform/count-phrase.ts";
import { html } from "#platform/http/response/html-page.ts";
import { letter } from "#platform/http/response/mail-layout.ts";
import type { ZoneResult } from "./checker.ts";
import type { ListedZones } from "./next-listed-zones.ts";

/** Characters of the widest line: names of zones are long. */
const WIDTH = 36;

export interface ListingMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** @param results of the check, for the descriptions of the zones */
export function listingMail(
  workspaceName: string,
  target: string,
  { before, after }: ListedZones,
  results: readonly ZoneResult[],
): ListingMail {
  const subject = subjectOf(target, { before, after });
  const about = new Map(results.map((result) => [result.zone, result]));
  const now = after.map((zone) => {
    const { status, description = "", delisting_info = null } = about.get(zone) ?? {};
    const note = status === "listed" ? description : `no answer this time, listed before`;
    return { zone, note, link: delisting_info };
  });
  const gone = before.filter((zone) => !after.includes(zone));
  const intro = `${workspaceName} monitors ${target}, whose listing in blacklists has changed.`;
  const listedText = now.map(({ zone, note, link }) => `- ${zone}: ${note}${link ? `\n  ${link}` : ""}`);
  const text = [
    intro,
    `Listed now: ${after.length === 0 ? "nowhere" : `\n${listedText.join("\n")}`}`,
    `Listed before: ${before.length === 0 ? "nowhere" : before.join(", ")}`,
    ...(gone.length === 0 ? [] : [`No longer listed in: ${gone.join(", ")}`]),
  ].join("\n\n");
  const items = now.map(
    ({ zone, note, link }) =>
      html`<li><strong>${zone}</strong>: ${note}${link === null ? "" : html`<br><a href="${link}">${link}</a>`}</li>`,
  );
  return {
    subject,
    text: `${text}\n`,
    html: letter(
      subject,
      html`<p>${intro}</p>
<h2 style="font-size:18px">Listed now</h2>
${after.length === 0 ? html`<p>Nowhere.</p>` : html`<ul>${items}</ul>`}
<h2 style="font-size:18px">Listed before</h2>
<p>${before.length === 0 ? "Nowhere." : before.join(", ")}</p>`,
      { width: WIDTH },
    ),
  };
}

function subjectOf(target: string, { before, after }: ListedZones): string {
  if (after.length === 0) return `${target} is no longer listed in any blacklist`;
  const count = counted(after.length, "blacklist");
  return before.length === 0 ? `${target} is listed in ${count}` : `${target} is now listed in ${count}`;
}
