/**
 * The conditions of `search`. It finds people whose name or local part contains all words of the text, the last one as
 * a prefix (a last word of one or two letters must match whole), and people whose address or domain starts with the
 * text. A part with `_` must occur literally. It does not find the middle of a word: a trigram index would, but costs
 * an import 17 microseconds a row, more than everything else. Each condition on the table of subscribers (`s`) has its
 * own index. They must run as separate queries: joined with `or`, PostgreSQL would read all people.
 */
import sql, { join, type Sql } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Shorter words are a prefix of too many words. */
const PREFIX_LENGTH = 3;
/** More words than a name has. */
const MOST_WORDS = 8;

/** A search returns at most this many people; results beyond are neither counted nor paged to. */
export const MOST_FOUND = 2_000;

/** How many people a filter finds. */
export interface PeopleTotal {
  readonly total: number;
  /** False if there may be more: `total` is then the maximum up to which they were counted. */
  readonly isExact: boolean;
}

/** The total of a search that found so many people. */
export function searchTotal(found: number): PeopleTotal {
  return { total: found, isExact: found < MOST_FOUND };
}

interface SearchCondition {
  readonly met: Sql;
  /** Whether words are compared, which only people of the workspace have. */
  readonly isByWords: boolean;
}

/** One or more conditions; a person matches who meets any of them. The statement must limit `s` to the workspace. */
export function searchConditions(workspaceId: WorkspaceId, text: string): Sql[] {
  return allConditions(workspaceId, text).map(({ met }) => met);
}

/**
 * The people `s` who meet each of the conditions, as relations for statements that find few people. Those with words are
 * found by these alone (`offset 0`): the planner does not know that they belong to one workspace, and would also read the
 * workspace's part of another index, which takes five times as long. The statement must limit `s` to the workspace.
 */
export function searchedPeople(workspaceId: WorkspaceId, text: string): Sql[] {
  return allConditions(workspaceId, text).map(({ met, isByWords }) =>
    isByWords
      ? sql`(select * from subscribers s where ${met} offset 0) s`
      : sql`(select * from subscribers s where s.workspace_id = ${workspaceId} and ${met}) s`,
  );
}

function allConditions(workspaceId: WorkspaceId, text: string): SearchCondition[] {
  const typed = text.trim().toLowerCase();
  // Addresses are stored in Unicode form NFC, names as they were given.
  return [...new Set([typed.normalize("NFC"), typed])].flatMap((wanted) => conditionsOf(workspaceId, wanted));
}

function conditionsOf(workspaceId: WorkspaceId, wanted: string): SearchCondition[] {
  const domain = domainInALabels(wanted);
  if (wanted.startsWith("@") && wanted.length > 1) {
    return [beginning(sql`starts_with(s.email_domain, ${domain.slice(1)})`)];
  }
  if (wanted.includes("@")) return [beginning(sql`starts_with(s.email, ${domain})`)];
  // Splits words as the SQL function subscriber_words does.
  const words = wanted.split(/[\s.,+_\-'’"/()]+/).filter((word) => word !== "");
  const beginnings = [
    ...(isLong(domain) ? [beginning(sql`starts_with(s.email_domain, ${domain})`)] : []),
    // Other people are found by the condition on words.
    ...(isLong(words.at(-1) ?? "") ? [] : [beginning(sql`starts_with(s.email, ${wanted})`)]),
  ];
  if (words.length === 0) return beginnings;
  const literal = wanted.split(/\s+/).filter((part) => part.includes("_"));
  const hasWords = [
    sql`subscriber_words(s.workspace_id, s.email, s.first_name, s.last_name)
      @@ ${queryOf(workspaceId, words)}::tsquery`,
    ...literal.map((part) => sql`position(${part} in ${searched}) > 0`),
  ];
  return [{ met: join(hasWords, " and "), isByWords: true }, ...beginnings];
}

const beginning = (met: Sql): SearchCondition => ({ met, isByWords: false });

const searched = sql`lower(split_part(s.email, '@', 1) || ' ' || coalesce(s.first_name, '') || ' ' ||
  coalesce(s.last_name, ''))`;

function queryOf(workspaceId: WorkspaceId, words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  const own = wordPrefix(workspaceId);
  const query = words
    .slice(0, MOST_WORDS)
    .map((word) => `'${own}${word.replaceAll("\\", "\\\\")}'`)
    .join(" & ");
  return isLong(last) && words.length <= MOST_WORDS ? `${query}:*` : query;
}

/** What the SQL function subscriber_words puts in front of each word: the last six octets of the workspace's id. */
function wordPrefix(workspaceId: WorkspaceId): string {
  return Buffer.from(workspaceId.replaceAll("-", "").slice(-12), "hex").toString("base64");
}

function isLong(text: string): boolean {
  return Array.from(text).length >= PREFIX_LENGTH;
}
