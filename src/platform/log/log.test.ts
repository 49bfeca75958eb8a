import pg from "pg";
import { describe, expect, test } from "vitest";
import { createLog, type LogFormat } from "./log.ts";

function logTo(
  isTTY: boolean,
  { hasColors = false, format }: { hasColors?: boolean; format?: LogFormat } = {},
) {
  const written: string[] = [];
  const output = { isTTY, hasColors: () => hasColors, write: (text: string) => void written.push(text) };
  const log = createLog("info", { output, ...(format && { format }) });
  return { log, written };
}

/** As the pool hands it over when an idle connection breaks. */
function brokenConnection(): Error {
  const client = new pg.Client({ host: "db.internal", user: "posthaste", password: "hunter2" });
  return Object.assign(
    new pg.DatabaseError("terminating connection due to administrator command", 116, "error"),
    {
      code: "57P01",
      severity: "FATAL",
      detail: "by an operator",
      client,
      cause: Object.assign(new Error("read ECONNRESET"), {
        code: "ECONNRESET",
        socket: { buffer: "x".repeat(10_000) },
      }),
    },
  );
}

describe("a fault in the log", () => {
  test("has its message and no internals of the driver", () => {
    const { log, written } = logTo(false);
    log.warn({ err: brokenConnection() }, "idle database connection failed");
    const [line = ""] = written;
    expect(JSON.parse(line).err).toMatchObject({
      message: "terminating connection due to administrator command",
      code: "57P01",
      severity: "FATAL",
      detail: "by an operator",
      stack: expect.any(String),
      cause: { message: "read ECONNRESET", code: "ECONNRESET" },
    });
    expect(line).not.toMatch(/hunter2|db\.internal|socket|"client"/);
    expect(line.length).toBeLessThan(5_000);
  });

  test.each([undefined, null, "text", 7, { odd: { deep: 1 }, plain: 2 }])(
    "may be any thrown thing: %j",
    (err) => {
      const { log, written } = logTo(false);
      log.error({ err }, "failed");
      expect(JSON.parse(written[0] ?? "")).toMatchObject({ msg: "failed" });
    },
  );

  test("with a loop of causes ends", () => {
    const { log, written } = logTo(false);
    const one = new Error("one");
    one.cause = new Error("other", { cause: one });
    log.error({ err: one }, "failed");
    expect(written).toHaveLength(1);
  });
});

describe("a terminal", () => {
  test("gets readable lines, with the stack below", () => {
    const { log, written } = logTo(true);
    log.info({ address: "http://127.0.0.1:8080", mode: "capture", note: "two words" }, "Posthaste listens");
    log.error({ err: new TypeError("broken") }, "request failed");
    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d {2}INFO {3}Posthaste listens {21}address=http:\/\/127\.0\.0\.1:8080 {2}mode=capture {2}note="two words"\n$/,
    );
    expect(written[1]).toMatch(/ERROR {2}request failed\n {2}TypeError: broken\n {6}at /);
  });

  test("has the fields in one column, whatever the length of the message", () => {
    const { log, written } = logTo(true);
    log.info({ port: 25 }, "listens");
    log.warn({ port: 25 }, "the port is in use");
    log.info("bare");
    const columns = written.slice(0, 2).map((line) => line.indexOf("port="));
    expect(columns[0]).toBe(columns[1]);
    expect(written[2]).toMatch(/bare\n$/);
  });

  test("gets colours only if it shows them", () => {
    const coloured = logTo(true, { hasColors: true });
    coloured.log.warn({ port: 25 }, "in use");
    expect(coloured.written[0]).toContain("\u001b[33mWARN");
    const plain = logTo(true);
    plain.log.warn({ port: 25 }, "in use");
    const piped = logTo(false, { hasColors: true, format: "text" });
    piped.log.warn({ port: 25 }, "in use");
    expect([...plain.written, ...piped.written].join("")).not.toContain("\u001b");
  });

  test("is not controlled by control characters in user data", () => {
    const { log, written } = logTo(true);
    log.info({ subject: "\u001b[2Jgone\r\nforged" }, "\u001b[31mred");
    expect(written[0]).not.toContain("\u001b");
    expect(written.join("").split("\n")).toHaveLength(2);
  });

  test("shows no secret", () => {
    const { log, written } = logTo(true);
    log.info({ password: "hunter2" }, "login");
    expect(written[0]).not.toContain("hunter2");
  });
});

test("anything else gets one JSON object a line", () => {
  const { log, written } = logTo(false);
  log.info({ port: 25 }, "listens");
  expect(JSON.parse(written[0] ?? "")).toMatchObject({ level: "info", msg: "listens", port: 25 });
});

test("LOG_FORMAT has precedence over what the output is", () => {
  const json = logTo(true, { format: "json" });
  json.log.info("listens");
  expect(JSON.parse(json.written[0] ?? "")).toMatchObject({ msg: "listens" });
  const text = logTo(false, { format: "text" });
  text.log.info("listens");
  expect(text.written[0]).toMatch(/ {2}INFO {3}listens\n$/);
});
