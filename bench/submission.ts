/**
 * Measures SMTP submission: 20 connections over STARTTLS, 250 after the commit. The yardstick is `POST /emails/send` of
 * the same process over as many connections. Runs of both alternate, so that other load on the machine affects both.
 * Nothing is delivered.
 */
import { eventually } from "#test/support/eventually.ts";
import { startProgram } from "#test/support/program.ts";
import { runHttpLoad } from "./http-load.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";
import { runSmtpLoad } from "./smtp-load.ts";
import { type Figure, grouped, medianBy } from "./table.ts";

const SIZES = [1_000, 10_000];
const RUNS = 3;
const LEAST_RATE = 1_000;
const load = { connections: 20, seconds: 4, warmUpSeconds: 2 };
const to = "ada@example.test";
const from = `orders@${senderDomain}`;

export async function benchSubmission(setup: BenchSetup): Promise<Figure[]> {
  const environment = { ...setup.environment, SUBMISSION_PORT: "0" };
  await using service = await startProgram(environment, ["serve", "--roles", "api,inbound"]);
  const httpPort = Number(new URL(service.url).port);
  const smtpPort = await eventually(
    "the submission port",
    async () => service.logged("listening for SMTP submission").at(-1)?.port,
  );
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const html = htmlOfLength(size);
    const pairs: Pair[] = [];
    for (let run = 0; run < RUNS; run++) {
      pairs.push({
        http: await runHttpLoad({
          ...load,
          port: httpPort,
          path: "/api/v1/emails/send",
          headers: { "X-API-Key": setup.apiKey },
          body: JSON.stringify({ to, from_email: from, subject: "Your order", body: html }),
        }),
        smtp: await runSmtpLoad({
          ...load,
          port: smtpPort,
          password: setup.apiKey,
          from: `bounces@${senderDomain}`,
          to,
          message: mailWith(html),
        }),
      });
    }
    figures.push(
      figureOf(
        size,
        medianBy(pairs, ({ smtp }) => smtp.rate),
      ),
    );
  }
  return figures;
}

interface Result {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

interface Pair {
  readonly http: Result;
  readonly smtp: Result;
}

/** A mail as an application writes it. */
function mailWith(html: string): string {
  const header = [
    `From: The Shop <${from}>`,
    `To: Ada <${to}>`,
    "Subject: Your order",
    "MIME-Version: 1.0",
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: 7bit",
  ];
  return `${header.join("\r\n")}\r\n\r\n${html.trim().replaceAll("\n", "\r\n")}`;
}

function figureOf(size: number, { http, smtp }: Pair): Figure {
  return {
    what: `submission, ${size / 1000} KB body, ${load.connections} connections`,
    measured: describe(smtp),
    yardstick: `accepted over HTTP ${describe(http)}`,
    ratio: smtp.rate / http.rate,
    aim: `≥ ${grouped(LEAST_RATE)}/s`,
    isMet: smtp.rate >= LEAST_RATE,
  };
}

function describe({ rate, p50, p99 }: Result): string {
  return `${grouped(rate)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`;
}
