import { expect, test } from "vitest";
import { startScriptedPeer } from "#test/support/scripted-peer.ts";
import { SmtpConnection } from "./connection.ts";
import { standardDeadlines } from "./deadlines.ts";

test("a closed connection starts no deadline timer, which would keep the process alive", async () => {
  await using peer = await startScriptedPeer(async () => {});
  const connection = await SmtpConnection.open({ address: "127.0.0.1", port: peer.port }, standardDeadlines);
  if (!(connection instanceof SmtpConnection)) throw new Error(connection.reason);
  connection.end({ fault: "closed", reason: "enough" });
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  connection.allow("dot");
  expect(timers()).toBe(before);
});
