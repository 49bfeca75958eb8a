import { expect, test } from "vitest";
import { demoSummary } from "./demo.ts";

const INBOX_TOKEN = "t".repeat(32);
const service = {
  url: "http://127.0.0.1:8080",
  logFile: "data/demo/service.log",
  environment: { INBOX_TOKEN },
};
const campaign = {
  id: "june",
  total_recipients: 1_000,
  delivered_count: 957,
  bounce_count: 35,
  unique_open_count: 42,
  click_count: 13,
  unique_click_count: 13,
  unsubscribe_count: 1,
};
const printed = (stay: boolean) =>
  demoSummary(service, "efk_demo", { list: "customers", segment: "buyers" }, campaign, stay);

test("a demo whose service goes on prints where to look", () => {
  expect(printed(true)).toMatch(
    /delivered +957\n.*http:\/\/127\.0\.0\.1:8080\/inbox\?token=t+\n.*KEY=efk_demo/s,
  );
});

test("a demo whose service has ended prints no address that leads nowhere", () => {
  expect(printed(false)).toMatch(/delivered +957\n.*service\.log/s);
  expect(printed(false)).not.toMatch(/http|curl|KEY/);
});
