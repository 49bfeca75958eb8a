import type { ProbeFinding } from "#hygiene/probe/finding.ts";
/** What is found out about one address, before anybody judges it. */

/** What the DNS says of a domain. */
export type DomainFinding =
  /** It takes mail: `hosts` in the order to try them, the domain itself where there is no MX. */
  | { readonly outcome: "deliverable"; readonly hasMx: boolean; readonly hosts: readonly string[] }
  /** It cannot take mail, or only where we do not go (private addresses). */
  | (NoHosts & { readonly outcome: "undeliverable" })
  /** Nobody could tell us. */
  | (NoHosts & { readonly outcome: "unknown" });

interface NoHosts {
  readonly hasMx: boolean;
  readonly hosts: readonly [];
  /** Why, as a clause. */
  readonly reason: string;
}

export interface Findings {
  /** Null for a text that is no address: nothing else was looked at. */
  readonly domain: DomainFinding | null;
  readonly isDisposable: boolean;
  readonly isRoleBased: boolean;
  readonly isFreeProvider: boolean;
  /** The domain is a known spam trap. */
  readonly isHoneypot: boolean;
  /** The domain that was likely meant. */
  readonly suggestion: string | null;
  /** Null when no server was asked. */
  readonly probe: ProbeFinding | null;
  /** Null: not known. */
  readonly isCatchAll: boolean | null;
  /** The domain was registered within the last month; null: not known. */
  readonly isNewDomain: boolean | null;
  readonly checkedAt: Date;
}

/** Of a text that is no address. */
export function malformed(checkedAt: Date): Findings {
  return {
    domain: null,
    isDisposable: false,
    isRoleBased: false,
    isFreeProvider: false,
    isHoneypot: false,
    suggestion: null,
    probe: null,
    isCatchAll: null,
    isNewDomain: null,
    checkedAt,
  };
}
