/**
 * Checks whether the SPF record of a domain authorizes this platform. The whole tree of look-ups is visited in the
 * order in which a receiver evaluates it (RFC 7208 section 4.6) and counted against the limits of section 4.6.4: a
 * record beyond them fails for all mail. spf-evaluate.ts is different: it evaluates a record for one IP address and
 * stops at the first match. No function throws; a DNS failure gives the status "error", which is inconclusive.
 */

import { lookUpFault } from "#dns/look-up-fault.ts";
import type { Lookup, Resolver } from "#dns/resolver-interface.ts";
import { findMisplaced, misplacedRecordMessage } from "./misplaced-record.ts";
import {
  findSpfRecord,
  hasMacro,
  isSpfRecord,
  parseSpfRecord,
  type SpfFault,
  type SpfRecord,
  shownTerm,
  spfFaults,
  spfRemarks,
} from "./spf-record.ts";
import { isMeantAsSpf } from "./spf-repair.ts";
import type { SpfDirective } from "./spf-term.ts";
import { decodedText, unrecognizedRecordMessage } from "./txt-cleanup.ts";

/** The result of checking the SPF record of a domain. */
export interface SpfCheck {
  readonly status: "verified" | "missing" | "mismatch" | "error";
  /** Every SPF record found at the domain. */
  readonly found: readonly string[];
  /** The wrong name at which they were found; null for the domain itself. */
  readonly foundHost: string | null;
  /** DNS look-ups that an evaluation of the whole record needs, and how many of them find nothing. */
  readonly lookups: number;
  readonly voidLookups: number;
  /** If too many look-ups find nothing: those hosts among them that the record itself names. */
  readonly deadNames: readonly string[];
  /** One or more sentences for the owner of the domain. */
  readonly message: string;
}

const MOST_LOOKUPS = 10;
const MOST_VOID_LOOKUPS = 2;
const MOST_MX_HOSTS = 10;
/** Counting stops here: the exact number is not needed for a record so far over the limit. */
const MOST_COUNTED = 25;
/** Faults and remarks that are listed one by one. */
const MOST_SENTENCES = 10;

/** State of a visit to a record and all that it refers to. */
interface Walk {
  readonly resolver: Resolver;
  readonly required: string;
  lookups: number;
  voidLookups: number;
  /** The first names whose look-up found nothing. */
  readonly voidNames: string[];
  /** Names of hosts in the record itself whose look-up found nothing. */
  readonly deadNames: string[];
  /** The required record was reached, in a place where it authorizes. */
  reached: boolean;
  /** The name whose look-up failed. */
  fault: string | null;
  /** An error that a receiver meets before it reaches the required record. */
  obstacle: string | null;
  readonly remarks: string[];
}

/**
 * Checks that the domain has exactly one valid SPF record, and that it contains `include:<requiredInclude>`, directly
 * or through a redirect or another include, within the limits. The content of the required record is the platform's
 * responsibility: if it is missing, that is a remark and not a failure of the domain.
 */
export async function checkSpf(
  resolver: Resolver,
  domain: string,
  requiredInclude: string,
): Promise<SpfCheck> {
  const name = domain.toLowerCase();
  const required = requiredInclude.toLowerCase();
  const walk: Walk = {
    resolver,
    required,
    lookups: 0,
    voidLookups: 0,
    voidNames: [],
    deadNames: [],
    reached: false,
    fault: null,
    obstacle: null,
    remarks: [],
  };
  const answer = await resolver.txt(name);
  const found = answer.outcome === "found" ? answer.records.map(decodedText).filter(isSpfRecord) : [];
  const conclude = (status: SpfCheck["status"], ...sentences: string[]): SpfCheck => ({
    status,
    found,
    foundHost: null,
    lookups: walk.lookups,
    voidLookups: walk.voidLookups,
    deadNames: walk.voidLookups > MOST_VOID_LOOKUPS ? walk.deadNames : [],
    message: [...sentences, ...walk.remarks].join(" "),
  });

  if (answer.outcome === "failed") {
    return conclude("error", lookUpFault(`The TXT records of ${name}`, answer));
  }
  const [text] = found;
  if (text === undefined) {
    const texts = answer.outcome === "found" ? answer.records.map(decodedText) : [];
    const meant = texts.filter(isMeantAsSpf);
    if (meant.length > 0) {
      const sentence = meant.every(isSenderId) ? SENDER_ID : unrecognizedRecordMessage("SPF", meant);
      return { ...conclude("mismatch", sentence), found: meant };
    }
    const misplaced = await findMisplaced(resolver, name, [], isMeantAsSpf);
    if (misplaced === null) return conclude("missing", `${name} has no SPF record.`);
    const sentence = misplacedRecordMessage("SPF", misplaced.host, name);
    return { ...conclude("mismatch", sentence), found: misplaced.texts, foundHost: misplaced.host };
  }
  if (found.length > 1) {
    return conclude(
      "mismatch",
      `${name} has ${found.length} SPF records; receivers accept exactly one: merge them.`,
    );
  }
  const record = parseSpfRecord(text);
  if ("faulty" in record) {
    return conclude("mismatch", `The SPF record is invalid: ${faultsInWords(spfFaults(text))}`);
  }
  walk.remarks.push(...spfRemarks(text).slice(0, MOST_SENTENCES), ...unseenBeside(answer, text));
  await follow(walk, record, [name], true, false);
  if (record.directives.some(({ mechanism, qualifier }) => mechanism === "all" && qualifier === "+")) {
    walk.remarks.push(
      '"+all" lets the whole Internet send as this domain: end the record with "~all" or "-all".',
    );
  }
  if (walk.lookups > MOST_LOOKUPS) {
    return conclude(
      "mismatch",
      `The record needs ${count(walk)} DNS look-ups; receivers stop at ${MOST_LOOKUPS}.`,
    );
  }
  if (walk.voidLookups > MOST_VOID_LOOKUPS) {
    const limit = `receivers accept ${MOST_VOID_LOOKUPS}`;
    const names = walk.voidNames.join(", ");
    const found = `${walk.voidLookups} of the record's look-ups find nothing (${names}); ${limit}`;
    return conclude("mismatch", `${found}: remove their terms.`);
  }
  if (walk.obstacle !== null) return conclude("mismatch", walk.obstacle);
  if (walk.fault !== null) {
    return conclude("error", `The record could not be followed: looking up ${walk.fault} failed.`);
  }
  if (!walk.reached) {
    const refused = record.directives.find(
      ({ mechanism, value, qualifier }) => mechanism === "include" && value === required && qualifier !== "+",
    );
    const missing = `The record does not contain include:${required} before its "all"`;
    const cure = `: with "${refused?.qualifier}" in front of it the include permits nothing; remove that sign`;
    return conclude("mismatch", `${missing}${refused === undefined ? "" : cure}.`);
  }
  return conclude(
    "verified",
    `The record includes ${required} and needs ${count(walk)} of ${MOST_LOOKUPS} look-ups.`,
  );
}

const isSenderId = (text: string): boolean => /^spf2\.0\//i.test(text);
const SENDER_ID =
  "The only record is one of Sender ID (spf2.0), which receivers do not read: publish the expected value beside it.";

/** A remark about other records that were probably meant as SPF as well. */
function unseenBeside(answer: Lookup<string>, right: string): string[] {
  const texts = answer.outcome === "found" ? answer.records.map(decodedText) : [];
  const meant = texts.filter((text) => text !== right && !isSpfRecord(text) && isMeantAsSpf(text));
  const written = meant.filter((text) => !isSenderId(text)).map(shownTerm);
  return written.length === 0
    ? []
    : [
        `Receivers do not recognize ${written.join(" and ")} as an SPF record: add what it permits to the right one.`,
      ];
}

/**
 * Visits one record. `path`: the domains that led here, this one last. `passes`: whether a match here is a pass for the
 * checked domain. `ours`: whether this is inside the required record.
 */
async function follow(
  walk: Walk,
  record: SpfRecord,
  path: string[],
  passes: boolean,
  ours: boolean,
): Promise<void> {
  for (const directive of record.directives) {
    if (isStopped(walk)) return;
    if (directive.mechanism === "include") {
      await followReference(walk, directive.value ?? "", path, passes && directive.qualifier === "+", ours);
    } else {
      const before = walk.voidLookups;
      await countLookups(walk, directive, path.at(-1) ?? "", ours);
      const isDead = path.length === 1 && walk.voidLookups > before;
      if (isDead && directive.value !== null) walk.deadNames.push(directive.value);
    }
  }
  if (record.redirect !== null && !isStopped(walk))
    await followReference(walk, record.redirect, path, passes, ours);
}

/** Visits the record of an include or a redirect. */
async function followReference(
  walk: Walk,
  target: string,
  path: string[],
  passes: boolean,
  ours: boolean,
): Promise<void> {
  walk.lookups += 1;
  if (hasMacro(target)) return;
  const required = target === walk.required;
  if (required && passes) walk.reached = true;
  if (path.includes(target)) return addObstacle(walk, `The record includes itself through ${target}.`);
  const { answer, published } = await findSpfRecord(walk.resolver, target);
  countVoid(walk, answer, target, ours || required);
  switch (published.kind) {
    case "failed":
      return;
    case "none": {
      const cure = required
        ? "until the operator of this service publishes it, receivers treat your record as broken"
        : "remove it, because receivers stop there with an error";
      return addObstacle(walk, `${target}, which the record refers to, has no SPF record: ${cure}.`);
    }
    case "several":
      return addObstacle(walk, `${target} has ${published.count} SPF records, which is an error.`);
    case "invalid":
      return addObstacle(walk, `The SPF record of ${target} is invalid: ${faultsInWords([published.fault])}`);
    case "record":
      return follow(walk, published.record, [...path, target], passes, ours || required);
  }
}

function faultsInWords(faults: readonly SpfFault[]): string {
  const sentences = faults.slice(0, MOST_SENTENCES).map(({ faulty, why }) => {
    return `${shownTerm(faulty)} cannot be understood: ${why}.`;
  });
  const more = faults.length - sentences.length;
  return [...sentences, ...(more > 0 ? [`${more} more terms are faulty.`] : [])].join(" ");
}

/** Counts a directive other than include. Names with macros depend on the message and are not looked up. */
async function countLookups(
  walk: Walk,
  { mechanism, value }: SpfDirective,
  domain: string,
  ours: boolean,
): Promise<void> {
  if (mechanism === "all" || mechanism === "ip4" || mechanism === "ip6") return;
  walk.lookups += 1;
  const name = value ?? domain;
  if (mechanism === "ptr" || hasMacro(name)) return;
  if (mechanism === "mx") {
    const answer = await walk.resolver.mx(name);
    countVoid(walk, answer, name, ours);
    const hosts = answer.outcome === "found" ? answer.records.length : 0;
    if (hosts > MOST_MX_HOSTS)
      addObstacle(walk, `${name} has ${hosts} MX hosts; SPF allows ${MOST_MX_HOSTS}.`);
    return;
  }
  const ipv4 = await walk.resolver.ipv4(name);
  countVoid(
    walk,
    ipv4.outcome === "absent" && mechanism === "a" ? await walk.resolver.ipv6(name) : ipv4,
    name,
    ours,
  );
}

/** Records the result of a look-up: it found nothing, or it failed. */
function countVoid(walk: Walk, answer: Lookup<unknown>, name: string, ours: boolean): void {
  if (answer.outcome === "absent") {
    walk.voidLookups += 1;
    if (walk.voidNames.length < MOST_SENTENCES) walk.voidNames.push(name);
  }
  if (answer.outcome === "failed" && !ours) walk.fault ??= name;
}

/**
 * An error ends the evaluation. After the required record it is only a remark, because a receiver has found the match
 * by then.
 */
function addObstacle(walk: Walk, sentence: string): void {
  if (walk.reached) walk.remarks.push(sentence);
  else walk.obstacle ??= sentence;
}

function isStopped(walk: Walk): boolean {
  return walk.fault !== null || walk.lookups >= MOST_COUNTED;
}

function count(walk: Walk): string {
  return walk.lookups >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(walk.lookups);
}
