/**
 * A fake of the Google APIs for Postmaster Tools, on a free port: the token endpoint, which verifies a service account's
 * signature with its public key, and domains.domainStats.query of version 2.
 */

import { generateKeyPairSync, randomUUID, verify } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { DAY_MS } from "#platform/time-units.ts";

const SCOPE = "https://www.googleapis.com/auth/postmaster.traffic.readonly";
const CLIENT_EMAIL = "posthaste@project.iam.gserviceaccount.test";
const KEY_ID = "0123456789abcdef";
const PERSON = {
  type: "authorized_user",
  client_id: "1.apps.googleusercontent.test",
  client_secret: "GOCSPX-of-a-local-server",
  refresh_token: "1//of-a-local-server",
};
/** Metrics that the API accepts only with a filter. */
const filters: Readonly<Record<string, RegExp | undefined>> = {
  AUTH_SUCCESS_RATE: /^auth_type = "(spf|dkim|dmarc)"$/,
  TLS_ENCRYPTION_RATE: /^traffic_direction = "(inbound|outbound)"$/,
};

/** Rates by metric (with its filter, if it has one), then by day. */
export type FakeFigures = Readonly<Record<string, Readonly<Record<string, number>>>>;
export type Misbehaviour = (response: ServerResponse) => void;

export interface FakeGoogle {
  readonly apiUrl: URL;
  /** The two credential files that an operator may have. */
  readonly serviceAccount: Readonly<Record<string, string>>;
  readonly person: Readonly<Record<string, string>>;
  /** Figures of the account by domain. */
  readonly domains: Map<string, FakeFigures>;
  /** Domains of all requests in order, including unknown domains. */
  readonly asked: string[];
  /** Claims of the last JWT assertion. */
  readonly claims: () => Readonly<Record<string, unknown>>;
  /** Figures per page, if the request does not ask for fewer. */
  pageSize: number;
  /** Replaces the answers of the token endpoint or of the API; null restores them. */
  misbehave(where: "token" | "api", how: Misbehaviour | null): void;
}

interface Query {
  readonly parent: string;
  readonly metricDefinitions: readonly {
    readonly name: string;
    readonly baseMetric: { readonly standardMetric: string };
    readonly filter?: string;
  }[];
  readonly timeQuery: { readonly dateRanges: { readonly dateRanges: readonly { start: Day; end: Day }[] } };
  readonly pageSize: number;
  readonly pageToken?: string;
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export function answerWith(status: number, value: unknown): Misbehaviour {
  return (response) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

/** An error in the format of all Google APIs. `domain` is the domain of its ErrorInfo. */
export function refuseWith(status: number, code: string, domain?: string): Misbehaviour {
  const details = domain && [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "ANY", domain }];
  return answerWith(status, {
    error: { code: status, message: "No", status: code, ...(details && { details }) },
  });
}

/** Starts the fake; it stops after the test file. @param now its clock */
export async function startFakeGoogle(now: () => Date): Promise<FakeGoogle> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const domains = new Map<string, FakeFigures>();
  const asked: string[] = [];
  const tokens = new Set<string>();
  const misbehaviours = new Map<string, Misbehaviour>();
  let lastClaims: Record<string, unknown> = {};

  const isAssertionGood = (assertion: string): boolean => {
    const [header = "", claims = "", signature = ""] = assertion.split(".");
    const signed = Buffer.from(`${header}.${claims}`);
    if (!verify("sha256", signed, publicKey, Buffer.from(signature, "base64url"))) return false;
    const { alg, kid } = JSON.parse(Buffer.from(header, "base64url").toString());
    lastClaims = JSON.parse(Buffer.from(claims, "base64url").toString());
    const { iss, aud, scope, iat, exp } = lastClaims;
    const seconds = now().getTime() / 1_000;
    const isInTime = Number(iat) <= seconds && Number(exp) > seconds && Number(exp) - Number(iat) <= 3_600;
    const isForUs = iss === CLIENT_EMAIL && aud === serviceAccount.token_uri && scope === SCOPE;
    return alg === "RS256" && kid === KEY_ID && isInTime && isForUs;
  };
  const token = (form: URLSearchParams): Misbehaviour => {
    const isGood =
      form.get("grant_type") === "refresh_token"
        ? (["client_id", "client_secret", "refresh_token"] as const).every(
            (name) => form.get(name) === PERSON[name],
          )
        : form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
          isAssertionGood(form.get("assertion") ?? "");
    if (!isGood) return answerWith(400, { error: "invalid_grant", error_description: "Bad Request" });
    const access_token = `ya29.${randomUUID()}`;
    tokens.add(access_token);
    return answerWith(200, { access_token, expires_in: 3_599, token_type: "Bearer" });
  };
  const query = (domain: string, { metricDefinitions, timeQuery, ...query }: Query): Misbehaviour => {
    const invalid = refuseWith(400, "INVALID_ARGUMENT");
    if (query.parent !== `domains/${domain}` || query.pageSize > 200) return invalid;
    const isWellFiltered = metricDefinitions.every(
      ({ baseMetric, filter }) =>
        filters[baseMetric.standardMetric]?.test(filter ?? "") ?? filter === undefined,
    );
    const range = timeQuery.dateRanges.dateRanges[0];
    if (!isWellFiltered || range === undefined) return invalid;
    const figures = domains.get(domain);
    if (figures === undefined) return refuseWith(403, "PERMISSION_DENIED");
    const timeOf = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day);
    const stats = [];
    for (let time = timeOf(range.start); time <= timeOf(range.end); time += DAY_MS) {
      const day = new Date(time);
      const ofDay = figures[day.toISOString().slice(0, 10)] ?? {};
      for (const { name, baseMetric, filter } of metricDefinitions) {
        const rate = ofDay[[baseMetric.standardMetric, filter].filter(Boolean).join(" ")];
        if (rate === undefined) continue;
        const date = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() };
        stats.push({ metric: name, date, value: { floatValue: rate } });
      }
    }
    const from = Number(query.pageToken ?? 0);
    const end = from + Math.min(google.pageSize, query.pageSize);
    const domainStats = stats.slice(from, end);
    return answerWith(200, { domainStats, ...(end < stats.length && { nextPageToken: String(end) }) });
  };

  const answerTo = async (request: IncomingMessage): Promise<Misbehaviour> => {
    const body = await text(request);
    const isToken = request.url === "/token";
    const domain = /^\/v2\/domains\/([^/]+)\/domainStats:query$/.exec(request.url ?? "")?.[1];
    if (domain !== undefined) asked.push(domain);
    const misbehaviour = misbehaviours.get(isToken ? "token" : "api");
    if (misbehaviour) return misbehaviour;
    if (request.method !== "POST") return refuseWith(404, "NOT_FOUND");
    if (isToken) return token(new URLSearchParams(body));
    if (domain === undefined) return refuseWith(404, "NOT_FOUND");
    if (!tokens.has(request.headers.authorization?.replace(/^Bearer /, "") ?? "")) {
      return refuseWith(401, "UNAUTHENTICATED");
    }
    return query(domain, JSON.parse(body));
  };
  const server = createServer((request, response) => {
    void answerTo(request).then((answer) => answer(response));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const apiUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const token_uri = new URL("/token", apiUrl).href;
  const serviceAccount = {
    type: "service_account",
    client_email: CLIENT_EMAIL,
    private_key_id: KEY_ID,
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    token_uri,
  };
  const google: FakeGoogle = {
    apiUrl,
    serviceAccount,
    person: { ...PERSON, token_uri },
    domains,
    asked,
    claims: () => lastClaims,
    pageSize: 200,
    misbehave(where, how) {
      if (how === null) misbehaviours.delete(where);
      else misbehaviours.set(where, how);
    },
  };
  return google;
}
