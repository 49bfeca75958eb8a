/**
 * Which columns of an import file say that somebody gets no mail, and what a cell of theirs says. A column whose name
 * plainly says so counts. One whose name might mean it, and whose cells are yes and no, is doubtful: the file is refused
 * until its sender says what it is.
 */
import type { CsvFile } from "../../platform/csv/read.ts";
import type { CsvRow } from "../../platform/csv/records.ts";
import { DateReader } from "../../platform/dates/date-reader.ts";
import { ApiError, invalid } from "../../platform/errors.ts";
import { readYesNo } from "../custom-fields/yes-no.ts";
import type { SubscriberStatus } from "../subscribers/status.ts";
import {
  blankWords,
  channels,
  doubtfulNames,
  fileNames,
  fillers,
  keyOf,
  meanings,
  meaningsOfMail,
  momentEndings,
  moments,
  negations,
  negative,
  neverWords,
  ofMail,
  onSwitches,
  other,
  stateWords,
  suspicious,
  tellingWords,
  wordsOf,
} from "./opt-out-words.ts";

/** What a column is about: a state as a word, or whether the state that it names holds. */
export type Meaning = "status" | SubscriberStatus;

export interface OptOutColumn {
  /** From 0. */
  readonly place: number;
  readonly header: string;
  readonly meaning: Meaning;
}

interface Candidate extends OptOutColumn {
  /**
   * `plain` counts, `doubtful` refuses the file, `soft` counts only where every cell is a word for a state, and `vague`
   * where some of these words are used of mail alone.
   */
  readonly certainty: "plain" | "doubtful" | "soft" | "vague";
}

/** What a cell says: a state, nothing, or what cannot be understood. */
export type Said = SubscriberStatus | "nothing" | "unknown";

const states = new Map(
  stateWords.flatMap(([state, words]) => [...words].map((word) => [word, state] as const)),
);
const softNames = new Set(["state", "statut", "estado", "stato", "stan", "zustand", "статус", "situation"]);
const dates = new DateReader({ timeZone: "UTC" });
/** The beginning of Unix time is a zero date here: people did not leave a list then. */
const isZeroDate = (text: string) =>
  text.startsWith("1970-01-01") || (/\d\D+\d/.test(text) && dates.read(text).kind === "nothing");
const dateLike = /\d{1,4}[-./年]\d{1,2}[-./月]\d{1,4}|^\d{8}T?\d*|^\d{10}(?:\d{3})?$|\b(?:19|20)\d\d\b/;

/** What a cell says in a column of this meaning. */
export function readOptOut(meaning: Meaning, cell: string): Said {
  const text = cell.trim();
  const inBrackets = /^[[{(](.*)[\]})]$/s.exec(text)?.[1];
  if (inBrackets !== undefined) return readListed(meaning, inBrackets);
  const key = keyOf(text);
  const isBlank = key === "" && /^[-–—[\]{}()."']*$/.test(text);
  if (isBlank || blankWords.has(key)) return "nothing";
  const state = stateIn(text);
  if (state !== undefined) return meaning === "bounced" && state === "unsubscribed" ? "bounced" : state;
  if (meaning === "status") return isZeroDate(text) ? "nothing" : "unknown";
  const answer = neverWords.has(key) ? false : (readYesNo(text) ?? readYesNo(key));
  if (answer === false) return meaning === "active" ? "unsubscribed" : "nothing";
  if (isZeroDate(text)) return "nothing";
  if (answer === true || dateLike.test(text)) return meaning;
  return meaning === "unsubscribed" && key === "all" ? meaning : "unknown";
}

/** A list of states, such as `['HARD_BOUNCE']`: the worst of them. */
function readListed(meaning: Meaning, text: string): Said {
  const said = text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => readOptOut(meaning, part.replaceAll(/["'[\](){}]/g, "")));
  const states = said.filter((one) => one !== "nothing" && one !== "unknown");
  const worst = states.reduce<SubscriberStatus | null>((one, other) => worse(one, other), null);
  return worst ?? (said.includes("unknown") ? "unknown" : "nothing");
}

/** The state that a text names: as a whole, by a telling word within it, or as what it is not. */
function stateIn(text: string): SubscriberStatus | undefined {
  const whole = states.get(keyOf(text));
  if (whole !== undefined) return whole;
  const words = wordsOf(text);
  if (words.some((word) => other.has(word))) return undefined;
  const [first = "", ...rest] = words;
  const isNegated = negations.has(first);
  const named = isNegated ? states.get(rest.join("")) : undefined;
  if (isNegated) return named === "active" ? "unsubscribed" : undefined;
  const pairs = words.map((word, at) => word + (words[at + 1] ?? ""));
  const telling = [...words, ...pairs].find((word) => tellingWords.has(word));
  return telling === undefined ? undefined : states.get(telling);
}

/** What the name of a column means; undefined where it has nothing to do with opting out. */
export function meaningOf(header: string): Pick<Candidate, "meaning" | "certainty"> | undefined {
  const words = wordsOf(plainName(header));
  if (words.length === 0 || words.some((word) => other.has(word))) return undefined;
  const isOfMail = words.some((word) => channels.has(word));
  const core = words
    .filter((word) => !fillers.has(word) && !moments.has(word))
    .join("")
    .replace(/status$|flag$/, "");
  const whole = words.filter((word) => !moments.has(word)).join("");
  const bare = core.replace(momentEndings, "");
  const endsInMoment = !isNamed(core) && !isNamed(whole) && isNamed(bare);
  const isMoment = words.some((word) => moments.has(word)) || endsInMoment;
  const isStatus = /status$|state$/.test(whole) && !isMoment;
  const isOfList = words.some((word) => listWords.has(word));
  if (core === "" && isStatus && (isOfMail || isOfList)) return { meaning: "status", certainty: "plain" };
  const names = [core, whole, core.replace(/in$/, ""), bare];
  if (/^clean(?:ed)?$/.test(core) && isMoment) return { meaning: "bounced", certainty: "plain" };
  const meaning =
    meaningAmong(meanings, names) ?? (isOfMail ? meaningAmong(meaningsOfMail, names) : undefined);
  if (meaning === "active" && isMoment) return undefined;
  if (meaning !== undefined) {
    return { meaning: meaning === "active" && isStatus ? "status" : meaning, certainty: "plain" };
  }
  if (core.startsWith("subscription") && isStatus) return { meaning: "status", certainty: "plain" };
  if (isMoment) return undefined;
  if (softNames.has(whole)) return { meaning: "status", certainty: "soft" };
  const doubtful = meaningAmong(doubtfulNames, [whole]) ?? guessedMeaning(whole);
  if (doubtful !== undefined) return { meaning: doubtful, certainty: "doubtful" };
  return isStatus ? { meaning: "status", certainty: "vague" } : undefined;
}

type Names = readonly (readonly [SubscriberStatus, ReadonlySet<string>])[];

function meaningAmong(table: Names, names: readonly string[]): SubscriberStatus | undefined {
  return table.find(([, known]) => names.some((name) => known.has(name)))?.[0];
}

const isNamed = (name: string) => meaningAmong(meanings, [name]) !== undefined;

/** Of these the column Status is the list's. */
const listWords = new Set(["list", "lists", "global", "subscriber", "subscription", "recipient"]);

/** "Opted out of email: Newsletter" is about one kind of mail, and counts for all; Salesforce adds a prefix and "__c". */
function plainName(header: string): string {
  return header
    .replace(/^(opted out of email)\s*:.*/i, "$1")
    .replace(/\(\s*(?:yes|ja|true|1)\s*\/\s*(?:no|nein|false|0)\s*\)/i, "")
    .replace(/__c$/i, "")
    .replace(/^[a-z0-9]+__(?=[a-z])/i, "");
}

function guessedMeaning(whole: string): SubscriberStatus | undefined {
  if (!suspicious.test(whole)) return undefined;
  if (whole.includes("bounce")) return "bounced";
  if (whole.includes("spam")) return "complained";
  return negative.test(whole) ? "unsubscribed" : "active";
}

/** How the sender settles it: a column by name, or none at all. */
export interface OptOutChoice {
  /** A column's name; `ignore` for none. */
  readonly opt_out_column?: string | null;
  /** The state of all in the file. */
  readonly status?: SubscriberStatus | null;
}

export const IGNORE = "ignore";

interface Survey {
  understood: number;
  unknown: number;
  /** Cells that say more than a date does. */
  states: number;
  /** Cells that are a word for a state, used of mail alone. */
  ofMail: number;
  /** Cells that are a number above 1: the column counts something. */
  counts: number;
  example: string;
}

/**
 * The columns that count, found by their names and all their cells. Files without such names are not read for it.
 * @param columns what the other columns are: a custom field is doubtful only by a plain name
 * @param most rows that are looked at
 * @throws ApiError BAD_REQUEST for a doubtful column, and for a name that no column has
 */
export async function findOptOutColumns(
  file: CsvFile,
  { cells: header, line: headerLine }: CsvRow,
  columns: {
    readonly status: { readonly place: number; readonly header: string } | undefined;
    readonly email: { readonly place: number };
    readonly custom: readonly { readonly place: number }[];
  },
  choice: OptOutChoice,
  most = Number.POSITIVE_INFINITY,
): Promise<OptOutColumn[]> {
  const { opt_out_column: named } = choice;
  if (named === IGNORE) return [];
  if (named) return [namedColumn(header, named)];
  const mapped = new Set(columns.custom.map(({ place }) => place));
  const candidates = header.flatMap((name, place): Candidate[] => {
    if (place === columns.email.place) return [];
    if (place === columns.status?.place)
      return [{ place, header: name.trim(), meaning: "status", certainty: "plain" }];
    const found = meaningOf(name);
    if (found === undefined || (found.certainty !== "plain" && mapped.has(place))) return [];
    return [{ place, header: name.trim(), ...found }];
  });
  if (candidates.length === 0) return [];
  const surveys = await survey(file, headerLine, candidates, most);
  const isSettled = choice.status !== undefined && choice.status !== null && choice.status !== "active";
  return candidates.filter((candidate) => {
    const seen = surveys.get(candidate);
    if (seen === undefined) return false;
    const { certainty, meaning } = candidate;
    if (certainty === "soft") return seen.unknown === 0 && seen.states > 0;
    if (certainty === "vague" && seen.ofMail === 0) return false;
    // "Marketing emails bounced" is a number of mails.
    if (seen.counts > 0 && seen.unknown === seen.counts && meaning !== "status") return false;
    const isDoubtful = isDoubtfulBy(candidate, seen);
    if (isDoubtful && !isSettled) throw doubtful(candidate, seen);
    return certainty !== "doubtful" && !isDoubtful;
  });
}

function isDoubtfulBy({ certainty }: Candidate, { understood, unknown, states }: Survey): boolean {
  if (certainty === "doubtful") return states > unknown;
  if (certainty === "vague") return unknown > 0;
  return understood === 0 && unknown > 0;
}

/** What to say of a file that is called after people who get no mail, and has no column that says so; else undefined. */
export function unclearName(
  name: string,
  columns: readonly OptOutColumn[],
  { opt_out_column, status }: OptOutChoice,
): string | undefined {
  if (columns.length > 0 || opt_out_column || status || !fileNames.test(name)) return undefined;
  return `The file is called "${name.slice(0, 100).toWellFormed()}", and no column says who gets no mail. Send it again with status=unsubscribed if it holds people who get no mail (or status=bounced), or with status=active`;
}

async function survey(
  file: CsvFile,
  headerLine: number,
  candidates: readonly Candidate[],
  most: number,
): Promise<Map<Candidate, Survey>> {
  const surveys = new Map(
    candidates.map((candidate) => [
      candidate,
      { understood: 0, unknown: 0, states: 0, ofMail: 0, counts: 0, example: "" },
    ]),
  );
  let rows = 0;
  for await (const batch of file.batches()) {
    for (const { line, cells } of batch) {
      if (line <= headerLine) continue;
      rows++;
      for (const [{ place, meaning }, seen] of surveys) {
        const cell = cells[place]?.trim() ?? "";
        if (cell === "") continue;
        if (/^\d{1,6}$/.test(cell) && Number(cell) > 1) seen.counts++;
        if (readOptOut(meaning, cell) === "unknown") {
          seen.unknown++;
          seen.example ||= cell.slice(0, 50);
        } else {
          seen.understood++;
          if (!dateLike.test(cell)) seen.states++;
          if (ofMail.test(keyOf(cell))) seen.ofMail++;
        }
      }
    }
    if (rows > most) break;
  }
  return surveys;
}

function namedColumn(header: readonly string[], named: string): OptOutColumn {
  const place = header.findIndex((name) => name.trim() === named.trim() || keyOf(name) === keyOf(named));
  if (place < 0) {
    const names = header.slice(0, 50).map((name) => name.trim().slice(0, 100));
    throw invalid({
      field: "opt_out_column",
      message: `opt_out_column is no column of the file; it has: ${names.join(", ")}`,
    });
  }
  const name = header[place]?.trim() ?? "";
  const isStatus = /^(?:subscri\w*)?status$/.test(keyOf(name));
  const guessed = onSwitches.has(keyOf(name).replace(/^is/, "")) ? "active" : "unsubscribed";
  return { place, header: name, meaning: isStatus ? "status" : (meaningOf(name)?.meaning ?? guessed) };
}

function doubtful({ header }: Candidate, { example }: Survey): ApiError {
  const what = example === "" ? "" : ` (it says "${example}")`;
  const name = header.slice(0, 100);
  return new ApiError(
    "BAD_REQUEST",
    `The column "${name}" may say who gets no mail${what}. Send the file again with opt_out_column=${name}, and it decides, or with opt_out_column=ignore, and it does not`.replaceAll(
      "\0",
      "",
    ),
  );
}

/** The worse of two: who left does not come back by another column. */
export function worse(one: SubscriberStatus | null, two: SubscriberStatus | null): SubscriberStatus | null {
  return rank(two) > rank(one) ? two : one;
}

export const order: readonly (SubscriberStatus | null)[] = [
  null,
  "active",
  "unsubscribed",
  "bounced",
  "complained",
];
export const rank = (status: SubscriberStatus | null) => order.indexOf(status);
