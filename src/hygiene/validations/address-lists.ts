/** The lists that addresses are compared with: files beside the code, of which the operator's newer ones win. */
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFreeMail } from "#identity/sending-domains/domain-name.ts";
import { AsyncCache } from "#platform/cache.ts";
import { isSquattedSlip, suggestDomain } from "./suggestion.ts";

/** What the lists say of an address. */
export interface ListMatches {
  readonly isDisposable: boolean;
  readonly isRoleBased: boolean;
  readonly isFreeProvider: boolean;
  readonly isHoneypot: boolean;
  readonly suggestion: string | null;
}

export interface AddressLists {
  /** @param local as it stands before the @; `domain` in lower-case A-labels; `takesMail`: by what the DNS says */
  lookUp(local: string, domain: string, takesMail: boolean): Promise<ListMatches>;
  /** What the domain alone says. */
  isHoneypot(domain: string): boolean;
}

/** How long it may take until a list that was refreshed is seen. */
const LOOK_MS = 60_000;

/** Where the operator's list of disposable domains lies, if there is one. */
export function disposableFile(dataDir: string): string {
  return join(dataDir, "lists", "disposable-domains.txt");
}

/** The entries of a list: one a line, without comments. */
export function entriesOf(text: string): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim().toLowerCase())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** A list that came with the program. */
export function readBuiltIn(name: string): string[] {
  return entriesOf(readFileSync(join(import.meta.dirname, "data", name), "utf8"));
}

/** Reads nothing before it is asked. */
export function createAddressLists(dataDir: string, trapDomains: readonly string[]): AddressLists {
  const traps = new Set(trapDomains);
  const own = new AsyncCache<Own | null>({ ms: LOOK_MS, most: 1 });
  let held: Own | null = null;
  let shipped: Shipped | undefined;

  const disposable = async () => {
    held = await own.get("disposable", () => readOwn(disposableFile(dataDir), held));
    return held?.domains ?? shippedLists().disposable;
  };
  const shippedLists = () => {
    shipped ??= readAllShipped();
    return shipped;
  };

  return {
    async lookUp(local, domain, takesMail) {
      const isFreeProvider = isFreeMail(domain);
      const { roles } = shippedLists();
      return {
        // Lists now and then name a provider that lives, and half a country would be called disposable.
        isDisposable: !isFreeProvider && isListed(await disposable(), domain),
        isRoleBased: roles.has(mailboxName(local)),
        isFreeProvider,
        isHoneypot: isListed(traps, domain),
        suggestion: isFreeProvider ? null : suggestionFor(domain, takesMail, shippedLists()),
      };
    },
    isHoneypot: (domain) => isListed(traps, domain),
  };
}

/** The name without its tag and what separates its words: `No-Reply+x` is `noreply`. */
function mailboxName(local: string): string {
  return local.toLowerCase().replace(/\+.*$/s, "").replaceAll(/[._-]/g, "");
}

/** Whether a domain, or one above it, is in the set. */
function isListed(domains: ReadonlySet<string>, domain: string): boolean {
  for (let name = domain; name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    if (domains.has(name)) return true;
  }
  return false;
}

interface Shipped {
  readonly disposable: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
  readonly typoTargets: readonly string[];
  readonly typos: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

/** Never another domain for one that lives: a known provider, or one that takes mail and is no known slip. */
function suggestionFor(
  domain: string,
  takesMail: boolean,
  { typoTargets, typos, providers }: Shipped,
): string | null {
  if (isListed(providers, domain)) return null;
  const target = suggestDomain(domain, typoTargets);
  if (target === null || !takesMail) return target;
  return typos.has(domain) || isSquattedSlip(domain, target) ? target : null;
}

function readAllShipped(): Shipped {
  return {
    disposable: new Set(readBuiltIn("disposable-domains.txt")),
    roles: new Set(readBuiltIn("role-accounts.txt")),
    typoTargets: readBuiltIn("typo-targets.txt"),
    typos: new Set(readBuiltIn("typo-domains.txt")),
    providers: new Set(readBuiltIn("mailbox-providers.txt")),
  };
}

interface Own {
  readonly domains: ReadonlySet<string>;
  readonly modifiedMs: number;
}

/** The operator's list, read again when it was written again; null without one. */
async function readOwn(path: string, held: Own | null): Promise<Own | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.mtimeMs === held?.modifiedMs) return found && held;
  return { domains: new Set(entriesOf(await readFile(path, "utf8"))), modifiedMs: found.mtimeMs };
}
