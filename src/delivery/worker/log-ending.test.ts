import { expect, test } from "vitest";
import type { Ending } from "#delivery/message/attempt.ts";
import { resultOf } from "#delivery/queue/result-of-ending.ts";
import { createLog } from "#platform/log/log.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { logOutcome } from "./log-ending.ts";

const now = new Date("2026-11-24T12:00:00Z");
const message = { ...leased("ann"), expires_at: new Date(now.getTime() + 3_600_000) };

function linesOf(ending: Ending, level = "debug", of = message) {
  const written: string[] = [];
  const log = createLog(level, { output: { write: (text: string) => void written.push(text) } });
  logOutcome(log, of, ending, resultOf(of, ending, now, 0));
  return written.map((line) => JSON.parse(line));
}
const refused = (code: number, text: string): Ending => ({
  kind: "attempted",
  attempt: {
    result: { outcome: "refused", stage: "rcpt", code, enhanced: text.split(" ")[0] ?? null, text },
    mxHost: "mx.example.test",
    sourceIp: "192.0.2.1",
    lane: "default",
    ms: 12.4,
  },
});

test("each outcome has one line with message, workspace, domain, attempt, host, reply code and duration", () => {
  expect(linesOf(refused(450, "4.2.1 try again"))).toMatchObject([
    {
      level: "debug",
      msg: "message deferred",
      message_id: message.message_id,
      workspace_id: message.workspace_id,
      domain: message.domain,
      attempt: 1,
      lane: "default",
      host: "mx.example.test",
      source_ip: "192.0.2.1",
      code: 450,
      enhanced_code: "4.2.1",
      next_attempt_at: expect.any(String),
      ms: 12,
    },
  ]);
  const ends: readonly (readonly [Ending, string])[] = [
    [refused(550, "5.1.1 no such user"), "message bounced"],
    [{ kind: "end", status: "suppressed", detail: "on the list" }, "message suppressed"],
    [{ kind: "unsendable", error: new Error("no") }, "message failed"],
  ];
  for (const [ending, msg] of ends) expect(linesOf(ending)).toMatchObject([{ msg }]);
});

test("a message whose time for retries is over is called expired", () => {
  const late = { ...message, attempts: 11, expires_at: now };
  expect(linesOf(refused(450, "4.2.1 try again"), "debug", late)).toMatchObject([
    { msg: "message expired", attempt: 12 },
  ]);
});

test("a line has neither the recipient's address nor the words of a reply, which may quote it", () => {
  const [line] = linesOf(
    refused(550, `5.1.1 <${message.localpart}@${message.domain}> unknown, call +1 555 0100`),
  );
  expect(JSON.stringify(line)).not.toMatch(/@|555|unknown/);
});

test("a message that only waits has no line, and at LOG_LEVEL=info no message has one", () => {
  expect(linesOf({ kind: "requeue", seconds: 5 })).toEqual([]);
  expect(linesOf(refused(550, "5.1.1 no such user"), "info")).toEqual([]);
});
