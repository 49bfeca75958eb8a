/**
 * MTA-STS (RFC 8461): a domain publishes over HTTPS which hosts accept its mail, and requires TLS with a valid
 * certificate. Parses the TXT record and the policy; fetching is in delivery/routes/mta-sts-policies.ts.
 */

/**
 * `enforce` forbids hosts and certificates that do not match; `testing` only reports them; `none` withdraws an earlier
 * policy.
 */
export type StsMode = "enforce" | "testing" | "none";

/** A parsed MTA-STS policy. */
export interface StsPolicy {
  readonly mode: StsMode;
  /** Host names in lower case, or wildcards such as `*.example.com`. */
  readonly mx: readonly string[];
  /** How long the policy may be cached. */
  readonly maxAgeSeconds: number;
}

export type StsPolicyText = { readonly policy: StsPolicy } | { readonly fault: string };

/** RFC 8461 section 3.2: about a year. */
const LONGEST_AGE_SECONDS = 31_557_600;
const MOST_MX = 100;
const fieldName = /^[A-Za-z0-9][\w.-]*$/;

/**
 * The id of the current policy, from the TXT records at `_mta-sts.<domain>`; null if there is no such record, or more
 * than one (section 3.1).
 */
export function readStsRecord(records: readonly string[]): string | null {
  const claims = records.filter((record) => /^v=STSv1\s*(;|$)/.test(record));
  const [record] = claims;
  if (record === undefined || claims.length > 1) return null;
  return /;\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*(;|$)/.exec(record)?.[1] ?? null;
}

/**
 * Parses `/.well-known/mta-sts.txt` (section 3.2). Unknown keys are ignored; of a repeated key the first value counts.
 */
export function readStsPolicy(text: string): StsPolicyText {
  const fields = text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(colon, 0)).trim();
    return fieldName.test(key) ? [{ key, value: line.slice(colon + 1).trim() }] : [];
  });
  const first = (key: string) => fields.find((field) => field.key === key)?.value;
  if (first("version") !== "STSv1") return { fault: "its version is not STSv1" };
  const mode = first("mode");
  if (mode !== "enforce" && mode !== "testing" && mode !== "none") return { fault: "it has no mode" };
  const age = first("max_age") ?? "";
  if (!/^\d{1,10}$/.test(age)) return { fault: "it has no max_age" };
  const mx = fields
    .filter(({ key }) => key === "mx")
    .map(({ value }) => value.toLowerCase().replace(/\.$/, ""));
  if (mx.length > MOST_MX) return { fault: `it names more than ${MOST_MX} hosts` };
  if (!mx.every(isHostPattern)) return { fault: "an mx is not a host name" };
  if (mx.length === 0 && mode !== "none") return { fault: "it names no mx" };
  return { policy: { mode, mx, maxAgeSeconds: Math.min(Number(age), LONGEST_AGE_SECONDS) } };
}

function isHostPattern(name: string): boolean {
  return (
    name.length <= 255 &&
    /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)
  );
}

/** Whether the policy lists a host. A wildcard stands for exactly one label (section 4.1). */
export function namesHost({ mx }: StsPolicy, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const parent = name.slice(name.indexOf(".") + 1);
  return mx.some(
    (pattern) =>
      pattern === name || (pattern.startsWith("*.") && name !== parent && pattern.slice(2) === parent),
  );
}
