import { expect, test } from "vitest";
import type { Engagement } from "#messages/record-engagement.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { EngagementRecorder } from "./engagement-recorder.ts";

const log = createLog("silent");
const workspaceId = asWorkspaceId(newId());

function click(messageId: string, linkIndex: number): Engagement {
  return {
    workspaceId,
    messageId,
    kind: "clicked",
    time: new Date(),
    times: 1,
    linkIndex,
    target: "https://shop.example/",
    userAgent: "A browser",
    machineSign: null,
  };
}

/** A recorder whose commits end when a test resolves their gates. */
function slowRecorder() {
  const batches: (readonly Engagement[])[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const recorder = new EngagementRecorder({
    log,
    retryMs: 0,
    sweepMs: 60_000,
    commit(engagements) {
      batches.push(engagements);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      return gate.promise;
    },
  });
  return { recorder, batches, gate: (at: number) => gates[at] ?? Promise.withResolvers<void>() };
}

test("events that arrive during a commit share the next one, and repeats are summed", async () => {
  const { recorder, batches, gate } = slowRecorder();
  const [one, other] = [newId(), newId()];
  const first = recorder.record(click(one, 0));
  const rest = [click(one, 0), click(one, 0), click(one, 1), click(other, 0)].map((one) =>
    recorder.record(one),
  );
  expect(batches).toHaveLength(1);
  gate(0).resolve();
  await first;
  gate(1).resolve();
  await Promise.all(rest);
  expect(batches[1]?.map(({ messageId, linkIndex, times }) => [messageId, linkIndex, times])).toEqual([
    [one, 0, 2],
    [one, 1, 1],
    [other, 0, 1],
  ]);
});

test("a failed commit is retried, and events that arrive meanwhile wait", async () => {
  const { recorder, batches, gate } = slowRecorder();
  const message = newId();
  const recorded = recorder.record(click(message, 0));
  gate(0).reject(new Error("the database is away"));
  await expect.poll(() => batches.length).toBe(2);
  gate(1).resolve();
  await recorded;
  expect(batches[1]).toEqual(batches[0]);
});

test("clicks on three links of a mail at once are a scanner's, on two a reader's", async () => {
  const batches: (readonly Engagement[])[] = [];
  const recorder = new EngagementRecorder({
    log,
    sweepMs: 60_000,
    commit: async (engagements) => void batches.push(engagements),
  });
  const [swept, read] = [newId(), newId()];
  for (const link of [0, 1, 2]) recorder.hold(click(swept, link));
  for (const link of [0, 1, 0]) recorder.hold(click(read, link));
  expect(batches).toEqual([]);
  await recorder.flush();
  const signs = (message: string) =>
    batches
      .flat()
      .filter(({ messageId }) => messageId === message)
      .map(({ machineSign, times }) => [machineSign, times]);
  expect(signs(swept)).toEqual([
    ["sweep", 1],
    ["sweep", 1],
    ["sweep", 1],
  ]);
  expect(signs(read)).toEqual([
    [null, 2],
    [null, 1],
  ]);
});

test("held clicks are recorded after their time", async () => {
  const batches: (readonly Engagement[])[] = [];
  const recorder = new EngagementRecorder({
    log,
    sweepMs: 1,
    commit: async (engagements) => void batches.push(engagements),
  });
  recorder.hold(click(newId(), 0));
  await expect.poll(() => batches.flat()).toHaveLength(1);
});
