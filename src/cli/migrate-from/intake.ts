/**
 * Reads a source completely before anything is written: the types of custom fields, and who gets no mail, are known only
 * at its end. People are kept in files, one for each list; memory holds the suppressed addresses.
 */
import { isDeepStrictEqual } from "node:util";
import { readAddress } from "#audience/files/address-cell.ts";
import { worse } from "#audience/imports/opt-outs/read-cell.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { LONGEST_PERSON_NAME, LONGEST_SOURCE } from "#audience/subscribers/subscriber-input.ts";
import { readEntryValue } from "#audience/suppression-lists/entry-value.ts";
import { LONGEST_NAME, plainName } from "#workspace/read-display-name.ts";
import { fieldNameOf } from "./field-names.ts";
import { FieldSurvey, type PlannedField } from "./field-survey.ts";
import type { MigrationReport } from "./report.ts";
import type {
  DeclaredField,
  FileRow,
  Given,
  GivenList,
  GivenPerson,
  GivenSuppression,
  GivenTemplate,
  GivenValue,
  Source,
} from "./source.ts";
import { Spool } from "./spool.ts";

/** A person on one list. */
export interface SpooledPerson {
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly source: string;
  readonly status: SubscriberStatus;
  readonly row?: FileRow;
  /** By names of custom fields. */
  readonly values: readonly (readonly [name: string, value: GivenValue])[];
}

export interface SpooledList {
  readonly name: string;
  readonly description: string;
  readonly isDoubleOptIn: boolean;
  readonly people: Spool<SpooledPerson>;
}

const LONGEST_DESCRIPTION = 2_000;
/** People between two lines of progress. */
const PROGRESS = 50_000;
/** Separators of entries: an address with one of them, in quotes, cannot be sent as an entry. */
const separator = /[,;\s]/;

export class Intake {
  readonly #folder: string;
  readonly #product: string;
  readonly #report: MigrationReport;
  readonly #say: (sentence: string) => void;
  readonly #survey = new FieldSurvey();
  readonly #lists = new Map<string, SpooledList>();
  readonly #listNames = new Set<string>();
  readonly #suppressions = new Map<string, Spool<string>>();
  readonly #statuses = new Map<string, SubscriberStatus>();
  readonly templates: Spool<GivenTemplate>;

  /** @param product the source of people who have none */
  constructor(folder: string, product: string, report: MigrationReport, say: (sentence: string) => void) {
    this.#folder = folder;
    this.#product = product;
    this.#report = report;
    this.#say = say;
    this.templates = new Spool(folder, "templates");
  }

  async read(source: Source): Promise<void> {
    for await (const one of source) await this.#take(one);
  }

  get lists(): SpooledList[] {
    return [...this.#lists.values()];
  }

  /** The entries of suppression lists by their names. */
  get suppressions(): ReadonlyMap<string, Spool<string>> {
    return this.#suppressions;
  }

  fields(): PlannedField[] {
    return this.#survey.plan();
  }

  /** The worse of a status and what the suppressions say of the address. */
  statusOf({ email, status }: Pick<SpooledPerson, "email" | "status">): SubscriberStatus {
    return worse(status, this.#statuses.get(email) ?? null);
  }

  #take(one: Given): Promise<void> | void {
    switch (one.kind) {
      case "list":
        return this.#takeList(one);
      case "field":
        return this.#takeField(one);
      case "person":
        return this.#takePerson(one);
      case "suppression":
        return this.#takeSuppression(one);
      case "template":
        return this.templates.add({ ...one, name: displayName(one.name) });
      case "omission":
        if (one.what === "person") this.#countPerson();
        return this.#report.omit(one);
      case "note":
        return this.#report.note(one.text);
    }
  }

  /** Two lists of one name stay two lists. */
  #takeList({ key, name, description = "", isDoubleOptIn = false }: GivenList): void {
    if (this.#lists.has(key)) return;
    let unique = displayName(name);
    for (let number = 2; this.#listNames.has(unique); number++) {
      const suffix = ` (${number})`;
      unique = displayName(name).slice(0, LONGEST_NAME - suffix.length) + suffix;
    }
    this.#listNames.add(unique);
    this.#lists.set(key, {
      name: unique,
      description: description.replaceAll("\0", "").slice(0, LONGEST_DESCRIPTION).toWellFormed(),
      isDoubleOptIn,
      people: new Spool(this.#folder, `list-${this.#lists.size}`),
    });
  }

  #takeField(field: DeclaredField): void {
    this.#survey.declare(fieldNameOf(field.name), field);
  }

  #countPerson(): void {
    this.#report.peopleRead++;
    const { peopleRead } = this.#report;
    if (peopleRead % PROGRESS === 0) this.#say(`${peopleRead.toLocaleString("en")} people read`);
  }

  async #takePerson(person: GivenPerson): Promise<void> {
    this.#countPerson();
    const lists = person.memberships.map(({ list }) => this.#lists.get(list)?.name ?? list).join(", ");
    const omit = (what: "person" | "value", reason: string) =>
      this.#report.omit({ what, where: lists, name: person.email, reason });
    const address = readAddress(person.email.trim());
    if (!address.ok) return omit("person", address.message);
    if (person.memberships.length === 0) {
      return omit("person", "is on no list: name one for such people with --list");
    }
    const values = new Map<string, GivenValue>();
    for (const [label, given] of person.values) {
      const value = cleanValue(given);
      const name = fieldNameOf(label);
      if (value === undefined) continue;
      const held = values.get(name);
      if (held !== undefined) {
        if (!isDeepStrictEqual(held, value))
          await omit("value", `${label}: an earlier field has the same name here, ${name}`);
        continue;
      }
      if (this.#survey.note(name, label, value)) values.set(name, value);
      else await omit("value", `${label}: there are too many names of fields`);
    }
    const names = { first_name: oneLine(person.first_name), last_name: oneLine(person.last_name) };
    for (const [field, name] of Object.entries(names)) {
      if (name.length > LONGEST_PERSON_NAME)
        await omit("value", `${field} is cut to ${LONGEST_PERSON_NAME} characters`);
    }
    for (const { list, status } of person.memberships) {
      const spooled = this.#lists.get(list);
      if (spooled === undefined) {
        throw new Error(
          `A person is on the list ${list}, which ${this.#product} does not name: the key may not see every list`,
        );
      }
      await spooled.people.add({
        email: address.email,
        first_name: cut(names.first_name, LONGEST_PERSON_NAME),
        last_name: cut(names.last_name, LONGEST_PERSON_NAME),
        source: cut(oneLine(person.source ?? "") || this.#product, LONGEST_SOURCE),
        status,
        ...(person.row && { row: person.row }),
        values: [...values],
      });
    }
  }

  async #takeSuppression({ list, value, status }: GivenSuppression): Promise<void> {
    const entry = readEntryValue(value);
    const omit = (reason: string) =>
      this.#report.omit({ what: "suppression", where: list, name: value, reason });
    if (entry === undefined) return omit("is neither an address nor a domain");
    if (separator.test(entry.normalized)) return omit("holds a separator of entries");
    if (status !== null && entry.type === "email") {
      this.#statuses.set(entry.normalized, worse(status, this.#statuses.get(entry.normalized) ?? null));
    }
    const name = displayName(list);
    let spool = this.#suppressions.get(name);
    if (spool === undefined) {
      spool = new Spool(this.#folder, `suppressions-${this.#suppressions.size}`);
      this.#suppressions.set(name, spool);
    }
    await spool.add(entry.normalized);
  }
}

/** A value that can be stored; undefined for none. */
function cleanValue(value: GivenValue): GivenValue | undefined {
  if (typeof value === "string") {
    const text = cleanText(value);
    return text === "" ? undefined : text;
  }
  if (typeof value !== "object") return value;
  const texts = value.map(cleanText).filter((text) => text !== "");
  return texts.length === 0 ? undefined : texts;
}

function cleanText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed().trim();
}

/** As part of a mail header: no line breaks, no control characters. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
}

function displayName(text: string): string {
  return cut(plainName(text), LONGEST_NAME) || "Without a name";
}

function cut(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().trim();
}
