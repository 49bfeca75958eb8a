import { expect, test } from "vitest";
import { machineSign } from "./bot-detection.ts";

const chrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const sign = (agent: string | undefined, headers: Record<string, string> = {}, method = "GET") =>
  machineSign({ method, headers: { "user-agent": agent, ...headers } });

test.each([
  chrome,
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0",
  "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17928; Pro)",
  // Image proxies that fetch when a person opens the mail.
  "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
  "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
])("a person reads mail with %s", (agent) => {
  expect(sign(agent)).toBeNull();
});

test.each([
  undefined,
  "",
  "  ",
  // Apple Mail Privacy Protection.
  "Mozilla/5.0",
  "curl/8.5.0",
  "python-requests/2.32",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "BarracudaCentral/1.0",
])("%s is a program", (agent) => {
  expect(sign(agent)).toBe("agent");
});

test("a HEAD request or a prefetch is a program's", () => {
  expect(sign(chrome, {}, "HEAD")).toBe("head");
  expect(sign(chrome, { "sec-purpose": "prefetch;prerender" })).toBe("prefetch");
  expect(sign(chrome, { "x-moz": "prefetch" })).toBe("prefetch");
});
