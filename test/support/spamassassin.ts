/** Scores mail with SpamAssassin: local rules only, without DNS, block lists, Bayes and other network tests. */
import { execFileSync, spawnSync } from "node:child_process";

export interface SpamScore {
  /** Receivers usually refuse mail with 5 or more. */
  readonly score: number;
  /** Names of the rules that matched. */
  readonly rules: readonly string[];
}

export const isSpamAssassinInstalled = canRun();

/** Scores a message as a receiver would, which got it from a public address. */
export function scoreSpam(message: Buffer, from: string): SpamScore {
  const received = `Received: from ${from} (${from} [192.0.43.7])\r\n\tby mx.example.test with ESMTPS id 1;\r\n\t${new Date().toUTCString().replace("GMT", "+0000")}\r\n`;
  const { stdout, stderr } = spawnSync("spamassassin", ["--local", "--test-mode"], {
    input: Buffer.concat([Buffer.from(received), message]),
    encoding: "latin1",
    timeout: 60_000,
  });
  const status = /^X-Spam-Status: .*?score=(-?[\d.]+).*?tests=(.*?)(?: autolearn|\r?\n\S)/ms.exec(stdout);
  if (status === null) throw new Error(`SpamAssassin printed no result: ${stderr}`);
  const [, score, rules = ""] = status;
  return { score: Number(score), rules: rules.split(/[\s,]+/).filter((rule) => rule !== "") };
}

function canRun(): boolean {
  try {
    execFileSync("spamassassin", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
