/**
 * A client of the Google Postmaster Tools API, version 2, for its one method domains.domainStats.query. (Version 1,
 * which had the reputation of domains, was shut down at the end of 2025.)
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { readResponseText } from "#platform/network/read-response.ts";
import { DAY_MS } from "#platform/time-units.ts";
import type { GoogleCredentials } from "./credentials.ts";

const API_URL = new URL("https://gmailpostmastertools.googleapis.com");
const DEADLINE_MS = 15_000;
const LONGEST_ANSWER = 1_048_576;
const LONGEST_REASON = 300;
/** Google's figures are some days late, and days without enough mail are missing. */
const DAYS = 30;
/** The maximum of the API; six figures of thirty days fit. */
const PAGE_SIZE = 200;
/** The API may return smaller pages than requested. */
const MOST_PAGES = 20;

/** By the names under which they are stored and shown. */
const metrics = {
  spam_rate: ["SPAM_RATE"],
  spf_success_rate: ["AUTH_SUCCESS_RATE", 'auth_type = "spf"'],
  dkim_success_rate: ["AUTH_SUCCESS_RATE", 'auth_type = "dkim"'],
  dmarc_success_rate: ["AUTH_SUCCESS_RATE", 'auth_type = "dmarc"'],
  // Inbound is mail to Gmail.
  encryption_rate: ["TLS_ENCRYPTION_RATE", 'traffic_direction = "inbound"'],
  delivery_error_rate: ["DELIVERY_ERROR_RATE"],
} as const;

export type Metric = keyof typeof metrics;
const metricNames = Object.keys(metrics) as Metric[];

/** Rates of one day, 0 to 1; null when Google gives none. */
export type GoogleDomainStats = Readonly<Record<Metric, number | null>> & {
  /** YYYY-MM-DD; null (with all rates null) when there was too little mail in the last 30 days. */
  readonly date: string | null;
};

/** Google rejected the credentials: no other request can succeed. */
export class NotAuthorised extends Error {}

export interface GoogleApi {
  /** @throws NotAuthorised; another Error when Google cannot be reached */
  authorise(now: Date, signal: AbortSignal): Promise<PostmasterAccount>;
}

/** An account with an access token, which is valid for an hour. */
export interface PostmasterAccount {
  /**
   * Figures of the newest day that has any; undefined when the account does not have the domain.
   * @throws as `authorise`
   */
  findStats(domain: string, now: Date, signal: AbortSignal): Promise<GoogleDomainStats | undefined>;
}

const Token = Type.Object({ access_token: Type.String({ minLength: 1, maxLength: 16_384 }) });
const Page = Type.Object({
  domainStats: Type.Optional(
    Type.Array(
      Type.Object({
        metric: Type.String(),
        date: Type.Object({
          year: Type.Integer({ minimum: 2000, maximum: 9999 }),
          month: Type.Integer({ minimum: 1, maximum: 12 }),
          day: Type.Integer({ minimum: 1, maximum: 31 }),
        }),
        value: Type.Optional(
          Type.Object({
            floatValue: Type.Optional(Type.Number()),
            doubleValue: Type.Optional(Type.Number()),
          }),
        ),
      }),
    ),
  ),
  nextPageToken: Type.Optional(Type.String()),
});
type Stat = NonNullable<Static<typeof Page>["domainStats"]>[number];

/** https://google.aip.dev/193 */
const Refusal = Type.Object({
  error: Type.Object({
    status: Type.String(),
    message: Type.Optional(Type.String()),
    details: Type.Optional(Type.Array(Type.Object({ domain: Type.Optional(Type.String()) }))),
  }),
});
/** RFC 6749 section 5.2 */
const TokenRefusal = Type.Object({
  error: Type.String(),
  error_description: Type.Optional(Type.String()),
});

/** @param options for tests */
export function createGoogleApi(
  credentials: GoogleCredentials,
  { apiUrl = API_URL, deadlineMs = DEADLINE_MS } = {},
): GoogleApi {
  const ask: Ask = (url, request, stop) =>
    fetchText(url, { ...request, signal: AbortSignal.any([stop, AbortSignal.timeout(deadlineMs)]) });
  return {
    async authorise(now, signal) {
      const body = credentials.tokenRequest(now);
      const answer = await ask(credentials.tokenUri, { method: "POST", body }, signal);
      if (answer.status === 200) return openAccount(ask, apiUrl, parsed(Token, answer).access_token);
      if (![400, 401, 403].includes(answer.status)) throw unexpected(answer);
      const { error, error_description = "" } = parsed(TokenRefusal, answer);
      throw new NotAuthorised(short(`${error} ${error_description}`.trim()));
    },
  };
}

function openAccount(ask: Ask, apiUrl: URL, token: string): PostmasterAccount {
  const findPage = async (domain: string, query: object, signal: AbortSignal) => {
    const answer = await ask(
      new URL(`/v2/domains/${encodeURIComponent(domain)}/domainStats:query`, apiUrl),
      {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(query),
      },
      signal,
    );
    if (answer.status === 200) return parsed(Page, answer);
    if (![401, 403, 404].includes(answer.status)) throw unexpected(answer);
    const { status, message = "", details = [] } = parsed(Refusal, answer).error;
    // A rejection by googleapis.com itself is not about the domain: the scope, the project, or an API that is not
    // enabled.
    const isAboutAccess = details.some((detail) => detail.domain === "googleapis.com");
    if (answer.status === 401 || isAboutAccess) throw new NotAuthorised(short(`${status} ${message}`));
    return undefined;
  };
  return {
    async findStats(domain, now, signal) {
      const stats: Stat[] = [];
      let pageToken: string | undefined;
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const page = await findPage(domain, { ...queryOf(domain, now), pageToken }, signal);
        if (page === undefined) return undefined;
        stats.push(...(page.domainStats ?? []));
        pageToken = page.nextPageToken;
        if (!pageToken) return newestOf(stats);
      }
      throw new Error(`Google answered with more than ${MOST_PAGES} pages`);
    },
  };
}

function queryOf(domain: string, now: Date) {
  return {
    parent: `domains/${domain}`,
    metricDefinitions: metricNames.map((name) => {
      const [standardMetric, filter] = metrics[name];
      return { name, baseMetric: { standardMetric }, filter };
    }),
    timeQuery: {
      dateRanges: {
        dateRanges: [{ start: dateOf(new Date(now.getTime() - DAYS * DAY_MS)), end: dateOf(now) }],
      },
    },
    aggregationGranularity: "DAILY",
    pageSize: PAGE_SIZE,
  };
}

function dateOf(time: Date): Stat["date"] {
  return { year: time.getUTCFullYear(), month: time.getUTCMonth() + 1, day: time.getUTCDate() };
}

function newestOf(stats: readonly Stat[]): GoogleDomainStats {
  const byDay = Map.groupBy(
    stats.filter((stat) => rateOf(stat) !== null),
    ({ date }) => new Date(Date.UTC(date.year, date.month - 1, date.day)).toISOString().slice(0, 10),
  );
  const date = [...byDay.keys()].toSorted().at(-1) ?? null;
  const ofDay = date === null ? [] : (byDay.get(date) ?? []);
  const figure = (metric: Metric) => {
    const stat = ofDay.find((one) => one.metric === metric);
    return stat === undefined ? null : rateOf(stat);
  };
  const figures = Object.fromEntries(metricNames.map((metric) => [metric, figure(metric)]));
  return { date, ...(figures as Record<Metric, number | null>) };
}

/** Null for what is not a rate; a floating-point rate may be a little above 1. */
function rateOf({ metric, value }: Stat): number | null {
  const number = value?.floatValue ?? value?.doubleValue;
  if (!(metric in metrics) || number === undefined || number < 0 || number > 1.001) return null;
  return Math.min(1, number);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Ask = (url: URL, request: RequestInit, stop: AbortSignal) => Promise<Answer>;

async function fetchText(url: URL, request: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...request, redirect: "error" });
  const { text, isWhole } = await readResponseText(response, LONGEST_ANSWER);
  if (!isWhole) throw new Error(`Google answered with more than ${LONGEST_ANSWER} octets`);
  return { status: response.status, text };
}

function parsed<Shape extends typeof Token | typeof Page | typeof Refusal | typeof TokenRefusal>(
  shape: Shape,
  answer: Answer,
): Static<Shape> {
  let content: unknown;
  try {
    content = JSON.parse(answer.text);
  } catch {
    throw unexpected(answer);
  }
  if (!Value.Check(shape, content)) throw unexpected(answer);
  return content;
}

/** The text of a 200 answer may be a token, so it is never quoted. */
function unexpected({ status, text }: Answer): Error {
  return new Error(
    status === 200 ? "Google's answer cannot be read" : `Google answered ${status}: ${short(text)}`,
  );
}

function short(text: string): string {
  return text.slice(0, LONGEST_REASON);
}
