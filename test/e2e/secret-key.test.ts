import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startProgram } from "#test/support/program.ts";
import { openScene } from "#test/support/scene.ts";

test("a machine with another secret key than its database does not start and says what to do", async () => {
  await using scene = await openScene({});
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-other-key-"));
  onTestFinished(() => rm(dataDir, { recursive: true, maxRetries: 5 }));
  const settings = { BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}`, DATABASE_URL: scene.database.url };
  const start = startProgram({ ...settings, DATA_DIR: dataDir }, ["serve", "--roles", "api"]);
  await expect(start).rejects.toThrow(/error: the database belongs to another secret key/);
  expect(scene.program.isRunning).toBe(true);
});

test("secret-key rotate works while the service runs and after a kill, and all sealed values still open", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-rotation-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  await using scene = await openScene({ env: { DATA_DIR: dataDir, MAIL_MODE: "capture" } });
  const { program, database } = scene;
  const restart = async () => {
    await program.kill("SIGTERM");
    await program.start();
  };
  const ring = async () => (await readFile(join(dataDir, "secret.key"), "utf8")).trim().split("\n");
  const list = async () => JSON.parse(await program.command("secret-key", "list", "--json"));
  await program.call("POST", "/sending-domains", { domain: "shop.test" });
  const hook = await program.call("POST", "/webhooks", { url: "https://shop.test/hook", events: ["*"] });
  const listId = (await program.call("POST", "/mailing-lists", { name: "Weekly" })).body.data.id;
  const form = (await program.call("PUT", `/mailing-lists/${listId}/signup-form`, { is_active: true })).body
    .data;
  const [first] = await ring();

  expect(await program.command("secret-key", "rotate")).toContain("restart the service");
  await restart();
  const [, second] = await ring();

  // Locks the webhook's row, so that the kill comes between two columns.
  const held = await database.openSession();
  await held.query("begin");
  await held.query("select from webhooks where id = $1 for update", [hook.body.data.id]);
  const running = program.command("secret-key", "rotate").catch((fault: Error) => fault);
  await eventually("the DKIM key to be sealed again", async () => {
    const waiting = await database.row<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'posthaste command' and wait_event_type = 'Lock'`);
    return waiting?.count === 1;
  });
  await database.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'posthaste command'`);
  expect(await running).toBeInstanceOf(Error);
  await held.query("rollback");
  await held.end();
  expect(await ring()).toEqual([second, first]);
  expect((await list()).unopened).toBe(0);
  await restart();
  expect(await program.command("secret-key", "rotate")).toMatch(/^1 sealed value is sealed again/);

  const { keys, unopened } = await list();
  expect([unopened, keys.map((key: { sealed_values: number }) => key.sealed_values)]).toEqual([0, [0, 2]]);
  expect((await fetch(new URL(new URL(form.url).pathname, program.url))).status).toBe(200);
  expect(await program.command("secret-key", "retire", keys[0].fingerprint, "--yes")).toContain("is retired");
  await restart();
  expect(await ring()).toEqual([second]);
  expect((await fetch(new URL(new URL(form.url).pathname, program.url))).status).toBe(404);
  expect((await program.call("POST", `/webhooks/${hook.body.data.id}/test`)).status).toBeLessThan(500);
}, 240_000);
