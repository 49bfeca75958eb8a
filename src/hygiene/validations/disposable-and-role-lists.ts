/** The lists that addresses are compared with: built-in files, and the operator's own list of disposable domains. */
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFreeMail } from "#identity/sending-domains/domain-name.ts";
import { AsyncCache } from "#platform/cache.ts";
import { isSquattedTypo, suggestDomain } from "./suggestion.ts";

/** What the lists say about an address. */
export interface ListMatches {
  readonly isDisposable: boolean;
  readonly isRoleBased: boolean;
  readonly isFreeProvider: boolean;
  readonly isHoneypot: boolean;
  readonly suggestion: string | null;
}

export interface AddressLists {
  /** @param local as written before the @; `domain` in lower-case A-labels; `takesMail`: according to the DNS */
  lookUp(local: string, domain: string, takesMail: boolean): Promise<ListMatches>;
  /** Whether the domain is a known spam trap. */
  isHoneypot(domain: string): boolean;
}

/** The longest time until a refreshed list is used. */
const LOOK_MS = 60_000;

/** The path of the operator's list of disposable domains, which need not exist. */
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

/** The entries of a list in data/. */
export function readBuiltIn(name: string): string[] {
  return entriesOf(readFileSync(join(import.meta.dirname, "data", name), "utf8"));
}

/** Reads the lists at the first look-up. */
export function createAddressLists(dataDir: string, trapDomains: readonly string[]): AddressLists {
  const traps = new Set(trapDomains);
  const own = new AsyncCache<Own | null>({ ms: LOOK_MS, most: 1 });
  let held: Own | null = null;
  let builtIn: BuiltIn | undefined;

  const disposable = async () => {
    held = await own.get("disposable", () => readOwn(disposableFile(dataDir), held));
    return held?.domains ?? builtInLists().disposable;
  };
  const builtInLists = () => {
    builtIn ??= readAllBuiltIn();
    return builtIn;
  };

  return {
    async lookUp(local, domain, takesMail) {
      const isFreeProvider = isFreeMail(domain);
      const { roles } = builtInLists();
      return {
        // Such lists sometimes contain a large provider; all of its addresses would count as disposable.
        isDisposable: !isFreeProvider && isListed(await disposable(), domain),
        isRoleBased: roles.has(mailboxName(local)),
        isFreeProvider,
        isHoneypot: isListed(traps, domain),
        suggestion: isFreeProvider ? null : suggestionFor(domain, takesMail, builtInLists()),
      };
    },
    isHoneypot: (domain) => isListed(traps, domain),
  };
}

/** The local part without tag and separators: `No-Reply+x` becomes `noreply`. */
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

interface BuiltIn {
  readonly disposable: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
  readonly typoTargets: readonly string[];
  readonly typos: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

/** The likely intended domain; null for known providers, and for domains that accept mail and are no known typo. */
function suggestionFor(
  domain: string,
  takesMail: boolean,
  { typoTargets, typos, providers }: BuiltIn,
): string | null {
  if (isListed(providers, domain)) return null;
  const target = suggestDomain(domain, typoTargets);
  if (target === null || !takesMail) return target;
  return typos.has(domain) || isSquattedTypo(domain, target) ? target : null;
}

function readAllBuiltIn(): BuiltIn {
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

/** The operator's list, read again when the file has changed; null when there is none. */
async function readOwn(path: string, held: Own | null): Promise<Own | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.mtimeMs === held?.modifiedMs) return found && held;
  return { domains: new Set(entriesOf(await readFile(path, "utf8"))), modifiedMs: found.mtimeMs };
}
