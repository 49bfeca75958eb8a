/**
 * Makes recorded requests and answers the same in every run: ids, secrets and keys are replaced, marks of unique names are
 * removed, and times of the database become the time of the recording's clock.
 */
import { DAY_MS } from "#platform/time-units.ts";

/** The time of the recording's clock: long ago, so that it differs from the time of the machine. */
export const RECORDED_AT = new Date("2026-03-16T09:30:00.000Z");

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const day = /^\d{4}-\d{2}-\d{2}$/;

/** Patterns of random values, each with its replacement. */
const random: readonly (readonly [RegExp, string])[] = [
  [/[ _-]?x[0-9a-f]{12}/g, ""],
  [/efk_[\w-]{20,}/g, "efk_0123456789abcdefghijklmnopqrstuvwxyzABCD"],
  [/efk_[\w-]{4,12}/g, "efk_01234567"],
  [/whsec_[\w+/=]{20,}/g, "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="],
  [/MI[GI][A-Za-z0-9+/]{100,}={0,2}/g, "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA…"],
  [/cs_test_[0-9a-f]{32}/g, "cs_test_0123456789abcdef0123456789abcdef"],
  [/posthaste-verification=[0-9a-f]{32}/g, "posthaste-verification=3f7c1e9a5b8d2f604c1e9a5b8d2f6047"],
  [/d-[0-9a-f]{32}@/g, "d-3f7c1e9a5b8d2f604c1e9a5b8d2f6047@"],
  [/\/s\/[\w-]{30,}/g, "/s/AaIWZvhdd1-CLKmi137JGQGiFmb4enGluCsG"],
  [/\bp[0-9a-f]{12}@example\.com/g, "ada@example.com"],
  [
    /^http:\/\/127\.0\.0\.1:\d+\/auth\?.*&state=.*$/g,
    "https://login.example.com/auth?redirect_uri=https%3A%2F%2Fmail.example.com%2Fsingle-sign-on%2Ffinish&scope=openid+email+profile&state=4mD0Yq&nonce=c9RtX1&code_challenge=Zk3vPa&code_challenge_method=S256&client_id=posthaste&response_type=code",
  ],
  [/\/media\/[\w-]{43}/g, "/media/AaIWZvhdd1-CLKmi137JGQGiFmb4enGluCsGs0Tnqx8"],
  [/\/share\/[\w-]{64}/g, "/share/AaIWZvhdd1-CLKmi137JGQGiFmb4enGluCsG"],
  [/\/previews\/[\w.-]{20,}/g, "/previews/AaIWZvhdd1-CLKmi137JGQGiFmb4enGluCsG"],
  [
    /\bt=\d{10}; h=[^;]*;\s*bh=[^;]*;\s*b=[\w+/=\s]*?(?=\r\n\S|$)/g,
    "t=1773653400; h=From:To:Subject:Date; bh=…; b=…",
  ],
  [/\bb\.[0-9a-v]{30,}\b/g, "b.01k8bb81o9eeeohahu4nb9ieufc9tcjg31a99o1teb5q3v0k7d2s"],
  [/\btx:[0-9a-f]{8}:/g, "tx:34dc214b:"],
  [/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/g, "7h2k-m4pq-9xw3-c6td"],
  [/http:\/\/(127\.0\.0\.1|localhost)(?=:\d+)/g, "http://127.0.0.1"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "https://mail.example.com"],
];

/** Fields whose values are random: of WebAuthn, of authenticator apps. */
const randomFields: ReadonlySet<string> = new Set([
  "attestationObject",
  "authenticatorData",
  "challenge",
  "clientDataJSON",
  "publicKey",
  "rawId",
  "secret",
  "signature",
  "uri",
  "userHandle",
]);
/** Ids that are no UUIDs: of passkeys. */
const keyId = /^[\w-]{16,86}$/;
const codeOfApp = /^\d{6}$/;

/** More items of an array show nothing new. */
const MOST_ITEMS = 3;
/** Times of the machine's clock are nearer to now than this. */
const NEAR_MS = 10 * DAY_MS;

/** Replaces the values of one request and its answer, so that an id is the same in both. */
export class StableValues {
  readonly #ids = new Map<string, string>();

  of(value: unknown, name = ""): unknown {
    if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => this.of(item, name));
    if (value instanceof FormData) return this.of(Object.fromEntries(value), name);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [this.#text(key), this.of(part, key)]),
      );
    }
    if (name === "duration_ms" && typeof value === "number") return 120;
    if (typeof value !== "string") return value;
    if (name === "next_cursor" || name === "after") return "AZyMfo0tP3cRmNIMKbHk4wQ1r7Zs";
    if (name.endsWith("token")) return "3f7c1e9a5b8d2f604c1e9a5b8d2f6047";
    if (randomFields.has(name) && value !== "") return "AaIWZvhdd1-CLKmi137JGQGiFmb4enGluCsG";
    if (name === "id" && keyId.test(value) && value.search(uuid) < 0) return "kcoLcUtcIyNVOPfNfHBPPA";
    if (name === "code" && codeOfApp.test(value)) return "492039";
    return this.#text(value);
  }

  #text(text: string): string {
    const named = random.reduce((left, [pattern, stand]) => left.replaceAll(pattern, stand), text);
    return named
      .replaceAll(uuid, (id) => this.#idFor(id))
      .replaceAll(time, (moment) => stableTime(moment).toISOString())
      .replace(day, (date) => stableTime(`${date}T12:00:00Z`).toISOString().slice(0, 10));
  }

  #idFor(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const stable = `019bc0de-7c00-7000-8000-${String(this.#ids.size + 1).padStart(12, "0")}`;
    this.#ids.set(id, stable);
    return stable;
  }
}

/** A time of the machine's clock, as so many days from the time of the recording; other times as they are. */
function stableTime(text: string): Date {
  const moment = new Date(text);
  const distance = moment.getTime() - Date.now();
  if (Math.abs(distance) > NEAR_MS) return moment;
  return new Date(RECORDED_AT.getTime() + Math.round(distance / DAY_MS) * DAY_MS);
}
