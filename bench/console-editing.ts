/** Measures what a person waits for while writing: the number of people of a segment, and the preview of a mail. */
import type { Page } from "playwright-core";
import { eventually } from "#test/support/eventually.ts";
import { timed, type Visit } from "./console-visit.ts";
import { senderDomain } from "./setup.ts";
import { type Figure, grouped, median } from "./table.ts";

const KEYS = "abcdefg";
const MOST_COUNT_MS = 800;
const HTML_BYTES = 100_000;
const MOST_PREVIEW_MS = 500;

/** From a key in the value of a rule to the number of people that it selects. */
export async function segmentCount(visit: Visit, listId: string): Promise<Figure> {
  const page = await visit.open(`/lists/${listId}/segments/new`);
  const addRule = page.getByRole("button", { name: "Add a rule" }).first();
  const field = page.getByRole("combobox", { name: "Field" });
  await addRule.or(field).first().waitFor();
  if ((await field.count()) === 0) await addRule.click();
  await field.fill("First name");
  await page.getByRole("option", { name: "First name" }).click();
  const value = page.getByLabel(/^Value of First name/);
  const count = page
    .getByRole("complementary", { name: "Who is selected" })
    .getByRole("status")
    .filter({ hasText: /\d/ });
  const taken = await timesOfKeys(async (key) => {
    const before = (await count.count()) === 0 ? "" : await count.first().innerText();
    // Each fiftieth person is a John, so that every other value finds none.
    await value.fill("aceg".includes(key) ? "John" : `John${key}`);
    return timed(() =>
      eventually("another number", async () => {
        const now = (await count.count()) === 0 ? "" : await count.first().innerText();
        return now !== before;
      }),
    );
  });
  await page.context().close();
  return figure("segment: from a key to the number of people", taken, MOST_COUNT_MS);
}

/** From a key in a mail of 100 kB to the preview that has it. */
export async function mailPreview(visit: Visit, listId: string): Promise<Figure> {
  const paragraph = "<p>Leaves fall, and {{ first_name }} reads about it.</p>\n";
  const { status, body } = await visit.service.call(
    "POST",
    "/campaigns",
    {
      name: "Autumn",
      subject: "Autumn",
      from_name: "The shop",
      from_email: `shop@${senderDomain}`,
      mailing_list_id: listId,
      html_content: paragraph.repeat(HTML_BYTES / paragraph.length),
    },
    { key: visit.setup.apiKey },
  );
  if (status !== 201) throw new Error(`a campaign was answered ${status}: ${JSON.stringify(body)}`);
  const page = await visit.open(`/campaigns/${body.data.id}`);
  await shows(page, "Leaves fall");
  await page.getByRole("textbox", { name: "HTML" }).click();
  await page.keyboard.press("ControlOrMeta+Home");
  const taken = await timesOfKeys(async (key) => {
    const word = `${key.repeat(8)} `;
    await page.keyboard.insertText(word);
    return timed(() => shows(page, word.trim()));
  });
  await page.context().close();
  return figure(
    `preview of ${grouped(HTML_BYTES / 1_000)} kB: from a key to the mail`,
    taken,
    MOST_PREVIEW_MS,
  );
}

async function timesOfKeys(press: (key: string) => Promise<number>): Promise<number[]> {
  const taken: number[] = [];
  for (const key of KEYS) taken.push(await press(key));
  return taken;
}

async function shows(page: Page, word: string): Promise<void> {
  await eventually("the word in the preview", async () => {
    for (const frame of page.frames().slice(1)) {
      const text = await frame.evaluate<string>("document.body?.textContent ?? ''").catch(() => "");
      if (text.includes(word)) return true;
    }
    return false;
  });
}

function figure(what: string, taken: readonly number[], most: number): Figure {
  return {
    what,
    measured: `${grouped(median(taken))} ms, most ${grouped(Math.max(...taken))} ms`,
    aim: `≤ ${most} ms`,
    isMet: median(taken) <= most,
  };
}
