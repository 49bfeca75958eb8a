import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { startService } from "#test/support/service.ts";
import { askSpamd, readReport } from "./ask-spamd.ts";
import type { CampaignCheck } from "./campaign-check.ts";

const body = { subject: "Hello", html_content: "<p>Hello {{ first_name }}, here are our news.</p>" };
const report =
  "SPAMD/1.1 0 EX_OK\r\nContent-length: 400\r\nSpam: True ; 6.2 / 5.0\r\n\r\nContent preview: -----\n\n" +
  " pts rule name              description\n---- ---------------------- ----------------------------\n" +
  " 0.2 NORMAL_HTTP_TO_IP      URI: URI host has a public dotted-decimal IPv4\n                            address\n" +
  "-0.0 NO_RELAYS              Informational: message was not relayed via SMTP\n" +
  "   6 GTUBE                  BODY: Generic Test\n\n";

/** What the scanner does in the current test. */
let play = async (_peer: Peer): Promise<void> => {};
const scanner = await startScriptedPeer((peer) => play(peer));
const service = await startService({ env: { SPAMD_URL: `spamd://127.0.0.1:${scanner.port}` } });

async function check(order: object = {}): Promise<CampaignCheck> {
  const answer = await service.call("POST", "/check", { ...body, ...order });
  expect(answer.status, answer.body.error).toBe(200);
  return answer.body.data;
}

test("score, threshold and rules of the scanner are shown, with findings for what adds points", async () => {
  let heard = "";
  play = async ({ hear, say, socket }) => {
    heard = await hear("\r\n--");
    say(report);
    socket.end();
  };
  const { spam, findings, unchecked } = await check();
  expect(spam).toEqual({
    score: 6.2,
    threshold: 5,
    is_spam: true,
    rules: [
      { name: "GTUBE", points: 6, description: "BODY: Generic Test" },
      { name: "NORMAL_HTTP_TO_IP", points: 0.2, description: expect.stringMatching(/IPv4 address$/) },
      { name: "NO_RELAYS", points: 0, description: expect.any(String) },
    ],
  });
  const ofSpam = findings.filter(({ code }) => code.startsWith("spam"));
  expect(ofSpam.map(({ code, severity }) => [code, severity])).toEqual([
    ["spam_score_high", "warning"],
    ["spam_rule", "warning"],
    ["spam_rule", "info"],
  ]);
  expect(unchecked).toEqual([]);
  // The mail is that which is sent: rendered, with its headers, its footer and its length.
  const [, octets = ""] = /^REPORT SPAMC\/1\.5\r\nContent-length: (\d+)\r\n\r\n/.exec(heard) ?? [];
  expect(Number(octets)).toBeGreaterThan(1_000);
  expect(heard).toContain("Hello Ada, here are our news.");
  expect(heard).toMatch(/^List-Unsubscribe: /m);
});

test.each([
  ["closes the connection", async ({ socket }: Peer) => void socket.destroy(), /connection/],
  [
    "answers something else",
    async ({ say, socket }: Peer) => {
      say("HTTP/1.1 400 Bad Request\r\n\r\n");
      socket.end();
    },
    /no answer of spamd/,
  ],
  [
    "answers with an error",
    async ({ say, socket }: Peer) => {
      say("SPAMD/1.0 76 EX_PROTOCOL Bad header\r\n");
      socket.end();
    },
    /EX_PROTOCOL/,
  ],
  [
    "never ends its answer",
    async ({ socket }: Peer) => {
      for (let sent = 0; sent < 400 && !socket.destroyed; sent += 1) socket.write("x".repeat(1_024));
    },
    /too long/,
  ],
])("a scanner that %s gives no score, and the check says so", async (_what, script, reason) => {
  play = script;
  const { spam, unchecked, subject } = await check();
  expect([spam, subject]).toEqual([null, "Hello"]);
  expect(unchecked).toEqual([{ part: "spam_score", reason: expect.stringMatching(reason) }]);
});

test("a scanner that hangs does not keep the check waiting", async () => {
  play = async () => {};
  const begin = performance.now();
  const { unchecked } = await check();
  // Ten seconds and the rendering; without a deadline it has no end.
  expect(performance.now() - begin).toBeLessThan(50_000);
  expect(unchecked).toMatchObject([{ part: "spam_score", reason: expect.stringMatching(/in time/) }]);
});

test("a caller that leaves the score out, and a mail that cannot be rendered, ask no scanner", async () => {
  let asked = 0;
  play = async () => {
    asked += 1;
  };
  expect(await check({ without: ["spam_score"] })).toMatchObject({ spam: null, unchecked: [] });
  expect(await check({ html_content: "{{ first_name" })).toMatchObject({ spam: null, unchecked: [] });
  expect(asked).toBe(0);
});

test("a mail above 500 kB is not scanned, and the check says so", async () => {
  const { unchecked } = await check({ html_content: `<p>${"a line of news ".repeat(40_000)}</p>` });
  expect(unchecked).toEqual([{ part: "spam_score", reason: "The mail is too large for a spam scanner." }]);
});

test("a report with figures that are none is no score", () => {
  expect(readReport("SPAMD/1.1 0 EX_OK\r\nSpam: True ; . / 5.0\r\n\r\n").outcome).toBe("failed");
  expect(readReport("SPAMD/1.1 0 EX_OK\r\n\r\n").outcome).toBe("failed");
  expect(readReport("").outcome).toBe("failed");
});

const spamd = process.env.SPAMD_PROGRAM ?? "/usr/sbin/spamd";
const hasSpamd = spawnSync("perl", ["-T", "-c", spamd], { stdio: "ignore" }).status === 0;

// Debian's package spamd. Without it the scripted scanner alone is asked.
test.skipIf(!hasSpamd)(
  "the spamd of SpamAssassin scores a mail, and its rules are read",
  async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    free.close();
    const listen = ["--listen", `127.0.0.1:${port}`, "--max-children", "1", "--username", "nobody"];
    const child = spawn(
      "perl",
      ["-T", spamd, "--local", "--nouser-config", "--syslog", "stderr", ...listen],
      {
        stdio: "ignore",
      },
    );
    onTestFinished(() => void child.kill());
    const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";
    const mail = Buffer.from(`From: a@b.co\r\nTo: c@d.co\r\nSubject: Hello\r\n\r\n${gtube}\r\n`);
    const answer = await eventually(
      "a score",
      async () => {
        const given = await askSpamd({ host: "127.0.0.1", port }, mail, AbortSignal.timeout(20_000));
        return given.outcome === "scored" && given;
      },
      100_000,
    );
    expect(answer).toMatchObject({ isSpam: true, threshold: 5 });
    expect(answer).toMatchObject({
      rules: expect.arrayContaining([expect.objectContaining({ name: "GTUBE", points: 1000 })]),
    });
  },
  120_000,
);
