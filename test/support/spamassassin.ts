/** SpamAssassin as a judge of mail: its own rules alone, without DNS, block lists, Bayes and the rest of the network. */
import { execFileSync, spawnSync } from "node:child_process";

export interface SpamVerdict {
  /** Receivers usually refuse from 5 on. */
  readonly score: number;
  /** Names of the rules that counted. */
  readonly rules: readonly string[];
}

export const isSpamAssassinInstalled = canRun();

/** As a receiver would ask it, that was connected to from a public address. */
export function judgeSpam(message: Buffer, from: string): SpamVerdict {
  const received = `Received: from ${from} (${from} [192.0.43.7])\r\n\tby mx.example.test with ESMTPS id 1;\r\n\t${new Date().toUTCString().replace("GMT", "+0000")}\r\n`;
  const { stdout, stderr } = spawnSync("spamassassin", ["--local", "--test-mode"], {
    input: Buffer.concat([Buffer.from(received), message]),
    encoding: "latin1",
    timeout: 60_000,
  });
  const status = /^X-Spam-Status: .*?score=(-?[\d.]+).*?tests=(.*?)(?: autolearn|\r?\n\S)/ms.exec(stdout);
  if (status === null) throw new Error(`SpamAssassin says nothing: ${stderr}`);
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
