/** An import whose service is killed several times continues without help, and its counts are exact. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { findMiscounts } from "#test/support/audience.ts";
import { endedJob, expireDeadRunners } from "#test/support/ended-job.ts";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";

const PEOPLE = 200_000;
const KILLS = 4;
const JOB_MS = 120_000;

test("an import continues after every kill and writes every person once", async () => {
  await using scene = await openScene({ env: { MAIL_MODE: "capture" } });
  const { program, database } = scene;
  const list = (await program.call("POST", "/mailing-lists", { name: "News" })).body.data.id;
  const known = Array.from({ length: 10 }, (_, at) => `p${at * 20_000}@kill.example`);
  for (const email of known) await program.call("POST", `/mailing-lists/${list}/subscribers`, { email });

  const rows = Array.from({ length: PEOPLE }, (_, at) => `p${at}@kill.example,Name ${at}`);
  // The last batch has a duplicate of the first one, and invalid rows are spread over the file.
  rows.push("p7@kill.example,Seven");
  for (let at = 0; at < 20; at++) rows.splice(at * 10_000, 0, `nobody ${at},x`);
  const form = new FormData();
  form.append("csvFile", new Blob([`Email,First\n${rows.join("\n")}\n`]), "people.csv");
  const started = await program.call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  const written = async () =>
    (await database.row<{ count: number }>(sql`select count(*)::int as count from import_batches`))?.count ??
    0;

  for (let kill = 0; kill < KILLS; kill++) {
    // The first kill comes while the file is read, the others while people are written.
    const before = await written();
    if (kill > 0) await eventually("some batches", async () => (await written()) > before, JOB_MS);
    await program.kill("SIGKILL");
    await expireDeadRunners(database);
    await program.start();
  }

  const ended = await endedJob(program, started, JOB_MS);
  expect(ended).toMatchObject({
    status: "completed",
    total: PEOPLE + 21,
    processed: PEOPLE + 21,
    counts: { created: PEOPLE - 10, updated: 10, unchanged: 0, duplicates: 1, invalid: 20 },
  });
  const errors = await program.call("GET", ended.errors_url.replace("/api/v1", ""));
  expect(errors.body.trim().split("\r\n")).toHaveLength(1 + 20);
  const held = await database.row(sql`
    select count(*)::int as members, count(distinct s.email)::int as people,
      count(*) filter (where s.first_name = 'Seven')::int as seven
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.mailing_list_id = ${list}`);
  expect(held).toEqual({ members: PEOPLE, people: PEOPLE, seven: 1 });
  expect(await findMiscounts(database)).toEqual([]);
}, 300_000);
