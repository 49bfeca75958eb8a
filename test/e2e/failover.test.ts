/** The program on a primary and a standby. The primary dies, and the standby is promoted. */
import { afterAll, describe, expect, test } from "vitest";
import { startDatabasePair } from "#test/support/database-pair.ts";
import { endedJob } from "#test/support/ended-job.ts";
import { eventually } from "#test/support/eventually.ts";
import { openScene } from "#test/support/scene.ts";

describe.runIf(process.platform === "linux")("a failover", async () => {
  if (process.platform !== "linux") return;
  const stack = new AsyncDisposableStack();
  afterAll(() => stack.disposeAsync());
  const pair = stack.use(await startDatabasePair());
  const scene = stack.use(
    await openScene({
      env: { DATABASE_URL: pair.url, DATABASE_READ_URL: pair.standby.url, MAIL_MODE: "capture" },
    }),
  );
  const { program } = scene;

  test("reports are read from the standby", async () => {
    await scene.messageWhen("delivered", await scene.send("ada@example.test"));
    const sessions = () =>
      pair.standby.ask("select from pg_stat_activity where application_name = 'posthaste'");
    expect(await sessions()).toEqual([]);
    expect((await program.call("GET", "/dashboard")).status).toBe(200);
    expect(await sessions()).toEqual([]);
    expect((await program.call("GET", "/stats/chart")).status).toBe(200);
    // One reads the report, and one asks how old the data is.
    expect(await sessions()).toHaveLength(2);
  });

  test("callers get 503 while there is no primary; then mail and jobs go on, and reports too", async () => {
    await pair.primary.stop();
    const email = { to: "bob@example.test", subject: "Hello", body: "<p>Hello</p>" };
    const send = () =>
      program.call("POST", "/emails/send", email, { headers: { "Idempotency-Key": "the-only-one" } });
    const refused = await send();
    expect(refused).toMatchObject({ status: 503, body: { success: false, code: "INTERNAL_ERROR" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // An answer of /readyz is kept for a moment.
    const isUnready = async () => (await fetch(`${program.url}/readyz`)).status === 503;
    await eventually("the program not to be ready", isUnready);

    await pair.standby.promote();
    const sent = await eventually("a send to succeed", async () => {
      const answer = await send();
      if (answer.status !== 503 && answer.status !== 409) return answer;
      return undefined;
    });
    expect(sent.status).toBe(201);
    await scene.messageWhen("delivered", sent.body.data.id);
    const list = (await program.call("POST", "/mailing-lists", { name: "News" })).body.data.id;
    const path = `/mailing-lists/${list}/subscribers/export-async`;
    expect(await endedJob(program, await program.call("POST", path))).toMatchObject({ status: "completed" });
    expect((await program.call("GET", "/stats/chart")).status).toBe(200);
    await eventually("the program to be ready", async () => !(await isUnready()));
  });
});
