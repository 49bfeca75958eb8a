/**
 * Which columns of an import file say that somebody gets no mail, and what a cell of theirs says. A column whose name
 * plainly says so counts. One whose name might mean it, and whose cells are yes and no, is doubtful: the file is refused
 * until its sender says what it is.
 */
import type { CsvFile } from "../../platform/csv/read.ts";
import type { CsvRow } from "../../platform/csv/records.ts";
import { DateReader } from "../../platform/dates/date-reader.ts";
import { ApiError, invalid } from "../../platform/errors.ts";
import type { SubscriberStatus } from "../subscribers/status.ts";
import {
  channels,
  fileNames,
  fillers,
  keyOf,
  meanings,
  moments,
  noWords,
  offSwitches,
  ofMail,
  other,
  stateWords,
  suspicious,
  wishes,
  wordsOf,
  yesWords,
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
  if (key === "" && text !== "✓") return /^[-–—]*$/.test(text) ? "nothing" : "unknown";
  const state = states.get(key);
  if (state !== undefined)
    return state === "active"
      ? "active"
      : meaning === "bounced" && state === "unsubscribed"
        ? "bounced"
        : state;
  if (meaning === "status") return "unknown";
  const isZero = isZeroDate(text);
  if (isZero || noWords.has(key))
    return meaning === "active"
      ? isZero || /^(?:n\/?a|none|null|nil)$/i.test(text)
        ? "nothing"
        : "unsubscribed"
      : "nothing";
  if (yesWords.has(key) || text === "✓") return meaning;
  if (dateLike.test(text)) return meaning;
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

/** What the name of a column means; undefined where it has nothing to do with opting out. */
export function meaningOf(header: string): Pick<Candidate, "meaning" | "certainty"> | undefined {
  // "Opted out of email: Newsletter" is about one kind of mail, and counts for all.
  const words = wordsOf(header.replace(/^(opted out of email)\s*:.*/i, "$1"));
  if (words.length === 0 || words.some((word) => other.has(word))) return undefined;
  const isMoment = words.some((word) => moments.has(word));
  const isOfMail = words.some((word) => channels.has(word));
  const core = words
    .filter((word) => !fillers.has(word) && !moments.has(word))
    .join("")
    .replace(/status$|flag$/, "");
  const whole = words.filter((word) => !moments.has(word)).join("");
  const isStatus = /status$|state$/.test(whole) && !isMoment;
  if (core === "" && isStatus && isOfMail) return { meaning: "status", certainty: "plain" };
  for (const [meaning, names] of meanings) {
    const isIt = names.has(core) || names.has(whole) || names.has(core.replace(/in$/, ""));
    if (!isIt) continue;
    // "No" alone is a number, and when somebody subscribed is no wish of theirs.
    if ((core === "no" || core === "left" || core === "removed") && !isOfMail) return undefined;
    if (meaning === "active")
      return isMoment ? undefined : { meaning: isStatus ? "status" : meaning, certainty: "plain" };
    return { meaning, certainty: "plain" };
  }
  if (isMoment) return undefined;
  if (isOfMail && wishes.has(core)) return { meaning: "active", certainty: "plain" };
  if (isOfMail && offSwitches.has(core)) return { meaning: "unsubscribed", certainty: "plain" };
  if (softNames.has(whole)) return { meaning: "status", certainty: "soft" };
  if (isStatus) return { meaning: "status", certainty: "vague" };
  if (!suspicious.test(whole)) return undefined;
  const isNegative =
    /out|unsub|black|block|suppress|spam|bounce|abmeld|desinscri|desabon|baja|afmeld|nomail|donot|停止|退订|거부/.test(
      whole,
    );
  return { meaning: isNegative ? "unsubscribed" : "active", certainty: "doubtful" };
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
    const isMeant = seen.unknown === 0 && seen.states > 0;
    if (certainty === "soft") return isMeant;
    if (certainty === "vague" && seen.ofMail === 0) return false;
    // "Marketing emails bounced" is a number of mails.
    if (seen.counts > 0 && seen.unknown === seen.counts && meaning !== "status") return false;
    const isDoubtful = isDoubtfulBy(candidate, seen);
    if (isDoubtful && !isSettled) throw doubtful(candidate, seen);
    return certainty !== "doubtful" && !isDoubtful;
  });
}

function isDoubtfulBy({ certainty }: Candidate, { understood, unknown, states }: Survey): boolean {
  if (certainty === "doubtful") return unknown === 0 && states > 0;
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
  return { place, header: name, meaning: isStatus ? "status" : (meaningOf(name)?.meaning ?? "unsubscribed") };
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
