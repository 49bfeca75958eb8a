import { describe, expect, test } from "vitest";
import { readAnySender, readPathCommand } from "./read-path-command.ts";

describe("a path that has to be a mailbox", () => {
  test.each([
    ["RCPT TO:<ada@example.test>", "ada@example.test"],
    ["rcpt  to : <ada@example.test>", "ada@example.test"],
    ['RCPT TO:<"taro..yamada"@example.test>', '"taro..yamada"@example.test'],
    ['RCPT TO:<"two words"@example.test> X=1', '"two words"@example.test'],
    ['RCPT TO:<"a\\"b> c"@example.test>', '"a\\"b> c"@example.test'],
    ["RCPT TO:<@relay.test,@other.test:ada@example.test>", "ada@example.test"],
    ["RCPT TO:<Postmaster>", "Postmaster"],
  ])("%j names %j", (line, address) => {
    expect(readPathCommand("RCPT TO", line)).toMatchObject({ address });
  });

  test.each([
    "RCPT TO:<ada>",
    "RCPT TO:ada@example.test",
    "RCPT TO:<ada@example.test",
    "RCPT TO:<a@b.test>,<c@d.test>",
    "RCPT TO:<a@b@c.test>",
    "RCPT TO:<ada@example.test\0>",
    "RCPT TO:<@example.test>",
    'RCPT TO:<"a@b"@example.test>',
    'RCPT TO:<"ada@example.test>',
    "MAIL FROM:<ada@example.test>",
    "RCPT TO",
  ])("%j names none", (line) => {
    expect(readPathCommand("RCPT TO", line)).toBe(false);
  });

  test("has parameters: xtext is decoded, and a repeated one is reported", () => {
    const read = (line: string) => readPathCommand("MAIL FROM", line);
    expect(read("MAIL FROM:<> SIZE=10 SMTPUTF8 ENVID=a+3Db")).toEqual({
      address: "",
      args: { SIZE: "10", SMTPUTF8: true, ENVID: "a=b" },
    });
    expect(read("MAIL FROM:<a@b.test> BODY=7BIT body=8BITMIME")).toMatchObject({ duplicate: "BODY" });
    expect(read("MAIL FROM:<a@b.test>")).toEqual({ address: "a@b.test", args: false });
  });
});

describe("any sender", () => {
  const long = `${"x".repeat(900)}@${"y".repeat(900)}.test`;
  test.each([
    ["<>", ""],
    [" < >", " "],
    ['<"John Doe"@example.com>', '"John Doe"@example.com'],
    ['<"a>b"@example.com>', '"a>b"@example.com'],
    ["<taro..yamada@carrier.example>", "taro..yamada@carrier.example"],
    ["<.taro.@carrier.example>", ".taro.@carrier.example"],
    ["<root>", "root"],
    ["<root@localhost>", "root@localhost"],
    ["<jörg@müller.example>", "jörg@müller.example"],
    ["<@a.test,@b.test:c@d.test>", "c@d.test"],
    ["<a@b@c.test>", "a@b@c.test"],
    ["<a b@example.com>", "a b@example.com"],
    ["<a@[192.0.2.1]>", "a@[192.0.2.1]"],
    ["<a@-x_y.test.>", "a@-x_y.test."],
    ['<"broken@example.com>', '"broken@example.com'],
    ["a@b.test", "a@b.test"],
    ["<a@b.test", "a@b.test"],
    [`<${long}>`, long],
  ])("%j is accepted", (path, address) => {
    expect(readAnySender(`MAIL FROM:${path}`)).toEqual({ address, args: false });
  });

  test.each([
    ["ENVID=x RET=HDRS", false],
    ["RET= ENVID", false],
    ["BODY=BINARYMIME SMTPUTF8=yes", false],
    ["SIZE=abc", false],
    ["BODY=8BITMIME SIZE=1000 AUTH=<> MT-PRIORITY=3", { SIZE: "1000" }],
    ["SIZE=1 SIZE=2 X-OWN HOLDFOR=9 REQUIRETLS", { SIZE: "1" }],
  ])("with the parameters %j is accepted", (parameters, args) => {
    expect(readAnySender(`MAIL FROM:<a@b.test> ${parameters}`)).toEqual({ address: "a@b.test", args });
  });

  test.each(["MAIL FROM:", "MAIL FROM:<a\0@b.test>", "MAIL <a@b.test>", "MAIL FROM <a@b.test>"])(
    "%j is no MAIL command",
    (line) => {
      expect(readAnySender(line)).toBe(false);
    },
  );
});
