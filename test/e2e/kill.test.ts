/** Accepted messages are delivered after the program was killed or stopped and started again. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type FakeMx, startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene, platform, type Scene } from "#test/support/scene.ts";

const MESSAGES = 60;
/** Connections of the default lane, and so the highest number of messages in flight at a kill. */
const MOST_IN_FLIGHT = 10;

function openAt(mx: FakeMx): Promise<Scene> {
  return openScene({ env: { SMTP_PORT: String(mx.port) }, zone: mailDomain("example.test") });
}

/** Sends many messages at once; returns the ids of those that were accepted before the program ended. */
async function sendMany(scene: Scene): Promise<string[]> {
  const sends = Array.from({ length: MESSAGES }, (_, at) => scene.send(`slow${at}@example.test`));
  return (await Promise.allSettled(sends)).flatMap((sent) => (sent.status === "fulfilled" ? sent.value : []));
}

/** Waits until all messages are delivered and the receiver has them; returns the number of duplicates. */
async function expectDelivered(scene: Scene, mx: FakeMx, ids: readonly string[]): Promise<number> {
  for (const id of ids) await scene.messageWhen("delivered", id);
  const domain = platform.PLATFORM_FROM.split("@")[1];
  expect(ids.filter((id) => !mx.copies.has(`<${id}@${domain}>`))).toEqual([]);
  return mx.received - mx.copies.size;
}

test("after SIGKILL to the whole program each accepted message is delivered, and only messages in flight twice", async () => {
  await using mx = await startFakeMx({ slowMs: 100 });
  await using scene = await openAt(mx);
  const sending = sendMany(scene);
  await mx.waitForMessages(15);
  await scene.program.kill("SIGKILL");
  const accepted = await sending;
  expect(accepted.length).toBeGreaterThan(MOST_IN_FLIGHT);

  await scene.program.start();
  expect(await expectDelivered(scene, mx, accepted)).toBeLessThanOrEqual(MOST_IN_FLIGHT);
});

test("a killed delivery process is restarted and no message is lost", async () => {
  await using mx = await startFakeMx({ slowMs: 100 });
  await using scene = await openAt(mx);
  const sending = sendMany(scene);
  await mx.waitForMessages(15);
  const [first] = scene.program.logged("delivery started");
  if (first === undefined) throw new Error("messages received, but no delivery process logged");
  process.kill(first.pid, "SIGKILL");
  const accepted = await sending;
  expect(accepted).toHaveLength(MESSAGES);

  expect(await expectDelivered(scene, mx, accepted)).toBeLessThanOrEqual(MOST_IN_FLIGHT);
  expect(scene.program.logged("delivery process exited, restarting it")).toHaveLength(1);
  expect(scene.program.logged("delivery started").at(-1)?.pid).not.toBe(first.pid);
  await eventually(
    "the program to be ready again",
    async () => (await fetch(`${scene.program.url}/readyz`)).ok,
  );
});

test("after SIGTERM the open SMTP session ends normally and the program exits with 0", async () => {
  await using mx = await startFakeMx({ slowMs: 1_500 });
  await using scene = await openAt(mx);
  const id = await scene.send("slow@example.test");
  await mx.waitForMessages(1);
  expect(await scene.program.kill("SIGTERM")).toEqual([0, null]);

  const message = await scene.database.row(sql`select status, attempts from messages where id = ${id}`);
  expect(message).toEqual({ status: "delivered", attempts: 1 });
  expect(await scene.database.rows(sql`select from delivery_queue`)).toEqual([]);
});

test("after SIGTERM messages that were not begun are delivered by the next start", async () => {
  await using mx = await startFakeMx({ slowMs: 500 });
  await using scene = await openAt(mx);
  const accepted = await sendMany(scene);
  expect(await scene.program.kill("SIGTERM")).toEqual([0, null]);
  const left = await scene.database.rows<{ leased: boolean }>(
    sql`select leased_by is not null as leased from delivery_queue`,
  );
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter(({ leased }) => leased)).toEqual([]);

  await scene.program.start();
  expect(await expectDelivered(scene, mx, accepted)).toBe(0);
});
