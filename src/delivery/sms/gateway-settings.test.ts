import { expect, test } from "vitest";
import { readGateway } from "./gateway-settings.ts";

test("all options are read from an SMPP address", () => {
  const url = "smpps://shop:p%40ss@smsc.test?source=%2B49170&window=50&per_second=30&receipt_id=decimal";
  expect(readGateway(new URL(url))).toMatchObject({
    kind: "smpp",
    host: "smsc.test",
    port: 3_550,
    isTls: true,
    systemId: "shop",
    password: "p@ss",
    source: "+49170",
    window: 50,
    perSecond: 30,
    hasReceipts: true,
    isReceiptIdDecimal: true,
  });
});

test("the query of an HTTP address belongs to the gateway, and the fragment has our options", () => {
  expect(
    readGateway(new URL("https://:s%2Fe@sms.test/send?source=7#source=Shop&receipts=true")),
  ).toMatchObject({
    kind: "http",
    url: "https://sms.test/send?source=7",
    secret: "s/e",
    source: "Shop",
    hasReceipts: true,
  });
});

test.each([
  ["smpp://smsc.test?source=Shop", /system_id/],
  ["smpp://shop:123456789@smsc.test?source=Shop", /password/],
  ["smpp://shop:p@smsc.test", /source/],
  ["smpp://shop:p@smsc.test?source=much-too-long-a-name", /source/],
  ["smpp://shop:p@smsc.test?source=Shop&windows=3", /unknown option windows/],
  ["smpp://shop:p@smsc.test?source=Shop&window=0", /window/],
  ["smpp://shop:p@smsc.test?source=Shop&receipts=maybe", /receipts/],
  ["https://sms.test/send", /source/],
])("%s is refused", (url, reason) => {
  expect(() => readGateway(new URL(url))).toThrow(reason);
});
