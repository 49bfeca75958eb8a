import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { isAddress, isSameMailbox } from "./same-mailbox.ts";

describe("one mailbox", () => {
  test.each([
    ["in another case", "Ann@Corp.Example", "ann@corp.example"],
    ["in quotes", "ann@corp.example", '"ann"@corp.example'],
    ["in brackets", "ann@corp.example", "<ann@corp.example>"],
    ["with a sub-address", "ann@corp.example", "ann+news@corp.example"],
    ["without its sub-address", "ann+news@corp.example", "ann@corp.example"],
    ["with a dot after the domain", "ann@corp.example", "ann@corp.example."],
    ["with a source route", "ann@corp.example", "@mx.corp.example,@in.corp.example:ann@corp.example"],
    ["with a percent sign", "ann@corp.example", "ann%corp.example@gateway.example"],
    ["with exclamation marks", "ann@corp.example", "gateway!corp.example!ann"],
    ["with an equals sign", "ann@corp.example", "bounce-1=ann=corp.example@gateway.example"],
    ["rewritten by SRS", "ann@corp.example", "SRS0=HHH=TT=corp.example=ann@forward.example"],
    ["signed by BATV", "ann@corp.example", "prvs=0123456789=ann@corp.example"],
    ["in xtext", "ann+b@corp.example", "ann+2Bb@corp.example"],
    ["entirely in xtext", "ann@corp.example", "ann+40corp.example@gateway.example"],
    ["wrapped by Exchange", "ann@corp.example", "IMCEASMTP-ann+40corp+2Eexample@tenant.example"],
    ["as a guest of a tenant", "ann@corp.example", "ann_corp.example#EXT#@tenant.onmicrosoft.com"],
    ["as an X.400 name", "ann@corp.example", "c=US;a= ;p=CORP;dda:SMTP=ANN(a)corp.example;"],
    ["with a backslash against aliases", "ann@corp.example", "\\ann@corp.example"],
    ["in A-labels", "ann@müller.example", "ann@xn--mller-kva.example"],
    ["at its mailbox host", "bob@corp.example", "bob@mail3.corp.example"],
    ["at the parent domain", "bob@cs.corp.example", "bob@corp.example"],
    ["at another mail host", "bob@mail.corp.example", "bob@mx2.corp.example"],
    ["at a hosted tenant", "alice@corp.example", "alice@corp.onmicrosoft.example"],
    ["at the real tenant host", "alice@corp.com", "alice@corp.mail.onmicrosoft.com"],
    ["at Google's test domain", "alice@corp.com", "alice@corp.com.test-google-a.com"],
    ["at a protection host", "alice@corp.com", "alice@corp-com.mail.protection.outlook.com"],
    ["at a host without a domain", "ann@corp.example", "ann@mx3"],
    ["at the host itself", "ann@corp.example", "ann@localhost.localdomain"],
    ["at a host of the internal network", "ann@corp.example", "ann@exchange.corp.local"],
    ["at an IP address", "ann@corp.example", "ann@[192.0.2.9]"],
    ["in a virtual domain of qmail", "ann@corp.example", "corp.example-ann@corp.example"],
    ["in a virtual domain of qmail, at its host", "ann@corp.example", "corp.example-ann@mx3"],
    ["at Google's other domain, without dots", "a.lice@gmail.com", "alice@googlemail.com"],
  ])("%s", (_, own, reported) => {
    expect(isSameMailbox(own, reported)).toBe(true);
  });
});

describe("another mailbox", () => {
  test.each([
    ["of the same domain", "ann@corp.example", "bob@corp.example"],
    ["elsewhere", "ann@corp.example", "ann@gmail.com"],
    ["of a provider with a common name", "ann@mail.com", "ann@mail.other.example"],
    ["below a public suffix", "ann@one.co.uk", "ann@two.co.uk"],
    ["of another tenant of a host", "ann@one.github.io", "ann@two.github.io"],
    ["with the same beginning", "ann@corp.example", "ann.smith@corp.example"],
    ["without dots, at a provider where dots count", "a.lice@corp.example", "alice@corp.example"],
    ["of the same internal network", "ann@corp.example", "bob@localhost"],
    ["in another virtual domain of qmail", "ann@corp.example", "other.example-ann@other.example"],
    ["of a department's domain", "ann@sales.corp.example", "ann@research.corp.example"],
  ])("%s", (_, own, reported) => {
    expect(isSameMailbox(own, reported)).toBe(false);
  });

  test("very long names are compared in linear time", () => {
    for (const piece of ["a=b.", "%a.b", "a!b.c", "+40", "@", "SRS0=a=", '"']) {
      expectLinearCost(
        25_000,
        (size) => `${piece.repeat(size)}@x.example`,
        (reported) => isSameMailbox("ann@corp.example", reported),
      );
    }
  });
});

test.each([
  ["|/usr/bin/vacation ann@corp.example", false],
  ['"|exec /usr/bin/procmail #ann@corp.example"', false],
  ["/var/mail/ann@corp.example", false],
  [":include:/etc/lists/ann@corp.example", false],
  ["IMCEAEX-_O=CORP_OU=FIRST_CN=ANN@corp.example", false],
  ["ann", false],
  ["ann@corp.example", true],
])("%j is an address: %s", (name, is) => {
  expect(isAddress(name)).toBe(is);
});
