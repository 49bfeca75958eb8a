import { expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { describeAgent } from "./describe-agent.ts";

const webKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X)";
const iPad = "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X)";
const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
const android = "Mozilla/5.0 (Linux; Android 15; Pixel 9)";

test.each([
  [`${windows} Chrome/142.0.0.0 Safari/537.36`, "desktop", "Windows", "Chrome"],
  [`${windows} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, "desktop", "Windows", "Microsoft Edge"],
  [`${mac} ${webKit} Version/18.6 Safari/605.1.15`, "desktop", "macOS", "Safari"],
  [`${mac} ${webKit}`, "desktop", "macOS", "Apple Mail"],
  [`${iPhone} ${webKit} Mobile/15E148`, "phone", "iOS", "Apple Mail"],
  [`${iPad} ${webKit} Mobile/15E148`, "tablet", "iOS", "Apple Mail"],
  [`${iPhone} ${webKit} Version/18.6 Mobile/15E148 Safari/604.1`, "phone", "iOS", "Safari"],
  [
    `${android} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36`,
    "phone",
    "Android",
    "Chrome",
  ],
  [
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0",
    "desktop",
    "Linux",
    "Thunderbird",
  ],
  [
    "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17928; Pro)",
    "desktop",
    "Windows",
    "Outlook",
  ],
  // Proxies name a device that is not the reader's.
  [
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "unknown",
    null,
    "Gmail",
  ],
  ["YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", "unknown", null, "Yahoo Mail"],
  ["Mozilla/5.0", "unknown", null, "Apple Mail Privacy Protection"],
  // Names that a sender makes up are not shown.
  ["<script>alert(1)</script>/1.0 (Evil OS)", "unknown", null, null],
  ["__proto__/1.0 constructor", "unknown", null, null],
  ["", "unknown", null, null],
  ["\ud800\u0001", "unknown", null, null],
])("an open with %s", (agent, device, system, client) => {
  expect(describeAgent(agent, "opened")).toEqual({ device, system, client });
});

test("a click from WebKit without a browser may come from any app", () => {
  expect(describeAgent(`${iPhone} ${webKit} Mobile/15E148`, "clicked").client).toBe(
    "An app on an Apple device",
  );
});

test("cost is linear in the length of the User-Agent", () => {
  const long = (size: number) => `${mac.slice(0, -1)}${"; Outlook (KHTML".repeat(size)}`;
  expectLinearCost(2_000, long, (agent) => describeAgent(agent, "opened"));
});
