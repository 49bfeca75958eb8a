import type { ProbeFinding } from "#hygiene/probe/finding.ts";
/** What the DNS says about a domain. */
export type DomainFinding =
  /** The domain accepts mail. `hosts` are in the order to try them: the domain itself if there is no MX. */
  | { readonly outcome: "deliverable"; readonly hasMx: boolean; readonly hosts: readonly string[] }
  /** The domain cannot accept mail, or only at private addresses. */
  | (NoHosts & { readonly outcome: "undeliverable" })
  /** The DNS gave no answer. */
  | (NoHosts & { readonly outcome: "unknown" });

interface NoHosts {
  readonly hasMx: boolean;
  readonly hosts: readonly [];
  /** Why, as a clause without a full stop. */
  readonly reason: string;
}

/** What is known about one address, before it is scored. */
export interface Findings {
  /** Null for a text that is not an address; the other findings are empty then. */
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
  /** Whether the server accepts any local part; null: unknown. */
  readonly isCatchAll: boolean | null;
  /** The domain was registered within the last 30 days; null: unknown. */
  readonly isNewDomain: boolean | null;
  readonly checkedAt: Date;
}

/** The findings about a text that is not an address. */
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
