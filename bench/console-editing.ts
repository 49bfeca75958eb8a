/** Measures what a person waits for while writing: the number of people of a segment. */
import { eventually } from "#test/support/eventually.ts";
import { timed, type Visit } from "./console-visit.ts";
import { type Figure, grouped, median } from "./table.ts";

const KEYS = "abcdefg";
const MOST_COUNT_MS = 800;

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

async function timesOfKeys(press: (key: string) => Promise<number>): Promise<number[]> {
  const taken: number[] = [];
  for (const key of KEYS) taken.push(await press(key));
  return taken;
}

function figure(what: string, taken: readonly number[], most: number): Figure {
  return {
    what,
    measured: `${grouped(median(taken))} ms, most ${grouped(Math.max(...taken))} ms`,
    aim: `≤ ${most} ms`,
    isMet: median(taken) <= most,
  };
}
