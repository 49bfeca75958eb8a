import { pino } from "pino";
import { expect, test } from "vitest";
import { MINUTE_MS } from "#platform/time-units.ts";
import { NetworkLog } from "./rate-limited-log.ts";

/** A network log on a clock that the test moves, and the lines it has written. */
function openLog() {
  const lines: unknown[] = [];
  const time = { ms: 0 };
  const format = { base: { pid: 1 }, timestamp: false, messageKey: "what" };
  const log = pino(format, {
    write(line) {
      const { network, notLogged, what } = JSON.parse(line);
      lines.push({ network, notLogged, what });
    },
  });
  return { lines, time, networkLog: new NetworkLog(log, () => time.ms) };
}

test("a network has one line per minute, and the next line counts those that were not written", () => {
  const { lines, time, networkLog } = openLog();
  for (let count = 0; count < 500; count++) networkLog.note("192.0.2.1", "refused");
  networkLog.note("192.0.2.2", "refused");
  time.ms = MINUTE_MS;
  networkLog.note("192.0.2.1", "refused again");
  expect(lines).toEqual([
    { network: "192.0.2.1", notLogged: 0, what: "refused" },
    { network: "192.0.2.2", notLogged: 0, what: "refused" },
    { network: "192.0.2.1", notLogged: 499, what: "refused again" },
  ]);
});

test("ten thousand networks have sixty lines per minute together", () => {
  const { lines, networkLog } = openLog();
  for (let count = 0; count < 10_000; count++) networkLog.note(`2001:db8:0:${count}::/64`, "refused");
  expect(lines).toHaveLength(60);
});
