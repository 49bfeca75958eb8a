/**
 * Writes what was read, in an order that lets no mail reach anyone who must not get it: suppressions before people. Lists,
 * custom fields and templates are found by name before they are created, and imports and entries add nothing twice, so a run
 * that ended early is repeated as a whole.
 */
import { join } from "node:path";
import { MOST_OPTIONS } from "#audience/custom-fields/read-definition.ts";
import { addressInCell } from "#audience/files/address-cell.ts";
import { openCsv } from "#platform/csv/read.ts";
import type { PlannedField } from "./field-survey.ts";
import type { Intake, SpooledList, SpooledPerson } from "./intake.ts";
import { ListedPeople } from "./listed-people.ts";
import { writePeopleFiles } from "./people-file.ts";
import type { KnownField, PosthasteApi } from "./posthaste-api.ts";
import { RefusedCall } from "./remote-api.ts";
import type { MigrationReport, WrittenCounts } from "./report.ts";
import type { GivenTemplate } from "./source.ts";
import type { Spool } from "./spool.ts";

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Names and custom fields of people who are on a list already stay as they are. */
  readonly keepsExisting: boolean;
  /** The product, in the words of people. */
  readonly product: string;
  /** A folder for files. */
  readonly folder: string;
  readonly say: (sentence: string) => void;
}

/** Entries of one call; the API takes 10,000. */
const ENTRIES_PER_CALL = 5_000;
/** Of a job's label. */
const LONGEST_LABEL = 200;

export class MigrationWriter {
  readonly #destination: PosthasteApi;
  readonly #intake: Intake;
  readonly #report: MigrationReport;
  readonly #options: WriteOptions;

  constructor(destination: PosthasteApi, intake: Intake, report: MigrationReport, options: WriteOptions) {
    this.#destination = destination;
    this.#intake = intake;
    this.#report = report;
    this.#options = options;
  }

  async write(): Promise<void> {
    await this.#writeSuppressions();
    const fields = await this.#writeFields();
    await this.#writeLists(fields);
    await this.#writeTemplates();
  }

  async #writeSuppressions(): Promise<void> {
    const { suppressions } = this.#intake;
    const { isDryRun, product, say } = this.#options;
    if (suppressions.size === 0) return;
    const known = new Map((await this.#destination.suppressionLists()).map(({ name, id }) => [name, id]));
    for (const [name, entries] of suppressions) {
      const id = known.get(name);
      let added: number | null = null;
      if (!isDryRun) {
        const description = `Taken over from ${product}. It holds for all mail; limit it to a mailing list if it was for one.`;
        added = await this.#addEntries(
          id ?? (await this.#destination.createSuppressionList(name, description)),
          entries,
        );
        say(`${entries.count.toLocaleString("en")} suppressions: ${name}`);
      }
      this.#report.suppressions.push({ name, is_new: id === undefined, read: entries.count, added });
    }
  }

  async #addEntries(listId: string, entries: Spool<string>): Promise<number> {
    let added = 0;
    let waiting: string[] = [];
    const send = async () => {
      if (waiting.length > 0) added += (await this.#destination.addSuppressions(listId, waiting)).added;
      waiting = [];
    };
    for await (const entry of entries.lines()) {
      waiting.push(entry);
      if (waiting.length >= ENTRIES_PER_CALL) await send();
    }
    await send();
    return added;
  }

  /** The custom fields of every list that take the values. */
  async #writeFields(): Promise<KnownField[]> {
    const planned = this.#intake.fields();
    if (planned.length === 0) return [];
    const known = new Map((await this.#destination.customFields()).map((field) => [field.field_name, field]));
    const fields: KnownField[] = [];
    for (const plan of planned) {
      const held = known.get(plan.field_name);
      const field = await this.#fieldFor(plan, held);
      if (field === undefined) continue;
      fields.push(field);
      const { field_name, field_type } = field;
      this.#report.fields.push({ field_name, field_type, is_new: held === undefined });
    }
    return fields;
  }

  /** Undefined if the workspace cannot have the field: then its values do not come. */
  async #fieldFor(plan: PlannedField, held: KnownField | undefined): Promise<KnownField | undefined> {
    const { isDryRun, product } = this.#options;
    const omit = (reason: string) =>
      this.#report.omit({ what: "field", where: product, name: plan.field_name, reason });
    if (held?.is_active === false) {
      await omit("the custom field of this name is switched off");
      return undefined;
    }
    try {
      if (held !== undefined) return await this.#withChoices(held, plan);
      if (!isDryRun) return await this.#destination.createCustomField(plan);
    } catch (fault) {
      if (!(fault instanceof RefusedCall) || fault.isAboutKey) throw fault;
      await omit(fault.message);
      return undefined;
    }
    const options = plan.field_options === null ? null : [...plan.field_options];
    return { ...plan, id: "", field_options: options, validation_rules: null, is_active: true };
  }

  /** Adds new choices, such as tags that were given since an earlier run. */
  async #withChoices(held: KnownField, { field_options }: PlannedField): Promise<KnownField> {
    if (held.field_options === null || field_options === null) return held;
    const values = new Set(
      held.field_options.flatMap((one) => (typeof one === "string" ? one : [one.value, one.label])),
    );
    const more = field_options.filter((one) => !values.has(one));
    const options = [...held.field_options, ...more];
    if (more.length === 0 || options.length > MOST_OPTIONS) return held;
    if (!this.#options.isDryRun) await this.#destination.changeChoices(held.id, options);
    return { ...held, field_options: options };
  }

  async #writeLists(fields: readonly KnownField[]): Promise<void> {
    const known = new Map((await this.#destination.mailingLists()).map(({ name, id }) => [name, id]));
    for (const list of this.#intake.lists) {
      const id = known.get(list.name);
      const own = id === undefined ? [] : await this.#destination.customFields(id);
      // A list's own field takes precedence over one of every list.
      const ofList = fields.map((field) => own.find((one) => one.field_name === field.field_name) ?? field);
      const usable = ofList.filter(({ is_active }) => is_active);
      const result = await this.#writePeople(list, id, usable);
      this.#report.lists.push({ name: list.name, is_new: id === undefined, ...result });
    }
  }

  async #writePeople(list: SpooledList, knownId: string | undefined, fields: readonly KnownField[]) {
    const { folder, isDryRun, say } = this.#options;
    const listed = new ListedPeople(list.people.count);
    const onRefused = (name: string, field: string, reason: string) =>
      this.#report.omit({ what: "value", where: list.name, name, reason: `${field} ${reason}` });
    const id = knownId ?? (isDryRun ? undefined : await this.#createList(list));
    let written: WrittenCounts | null = null;
    let done = 0;
    for await (const part of writePeopleFiles(folder, this.#counted(list, listed), fields, onRefused)) {
      if (isDryRun || id === undefined) continue;
      const counts = await this.#importPart(list.name, id, part.path);
      written = written === null ? counts : sumOf(written, counts);
      done += part.rows;
      say(`${done.toLocaleString("en")} of ${list.people.count.toLocaleString("en")} people: ${list.name}`);
    }
    return { people: listed.counts, written };
  }

  /** The people of a list with the statuses that they get. Rows that a later one replaces come, too: an import ignores them. */
  async *#counted(list: SpooledList, listed: ListedPeople): AsyncGenerator<SpooledPerson> {
    for await (const person of list.people.lines()) {
      const { status, replaced } = listed.add(person, this.#intake.statusOf(person));
      if (replaced !== undefined) {
        const [where = list.name, later = "a later one"] = [replaced, person].map(placeOf);
        const reason = `is replaced: ${later} has the same address`;
        await this.#report.omit({ what: "duplicate", where, name: person.email, reason });
      }
      yield { ...person, status };
    }
  }

  #createList({ name, description, isDoubleOptIn }: SpooledList): Promise<string> {
    const opt_in_type = isDoubleOptIn ? "double" : "import";
    return this.#destination.createMailingList({ name, description, opt_in_type });
  }

  async #importPart(listName: string, id: string, path: string): Promise<WrittenCounts> {
    const { product, keepsExisting, folder } = this.#options;
    const label = `${listName}, from ${product}`.slice(0, LONGEST_LABEL);
    const imported = await this.#destination.importPeople(id, path, keepsExisting, label);
    for (const warning of imported.warnings) this.#report.note(`${listName}: ${warning}`);
    if (imported.hasErrorRows) {
      const rows = join(folder, "errors.csv");
      await this.#destination.downloadErrorRows(imported.jobId, rows);
      await this.#noteErrorRows(listName, rows);
    }
    return imported.counts;
  }

  async #noteErrorRows(listName: string, path: string): Promise<void> {
    let isHeader = true;
    for await (const { cells } of (await openCsv(path)).rows()) {
      const [email = ""] = cells;
      const reason = cells.at(-1) ?? "";
      if (!isHeader)
        await this.#report.omit({ what: "person", where: listName, name: addressInCell(email), reason });
      isHeader = false;
    }
  }

  async #writeTemplates(): Promise<void> {
    const { templates } = this.#intake;
    const { isDryRun, product } = this.#options;
    if (templates.count === 0) return;
    const known = await this.#destination.templateNames();
    for await (const template of templates.lines()) {
      const { name } = template;
      const isKnown = known.has(name);
      const reason = isKnown ? null : await this.#createTemplate(template);
      known.add(name);
      const created = isDryRun ? "would be created" : "created";
      const outcome = isKnown ? "known" : reason === null ? created : "not created";
      this.#report.templates.push({ name, outcome, reason });
      if (reason !== null) await this.#report.omit({ what: "template", where: product, name, reason });
    }
  }

  /** @returns why the template was not created; null if it was, or would be */
  async #createTemplate(template: GivenTemplate): Promise<string | null> {
    const { untranslated } = template;
    if (untranslated.length > 0) return `has tags without a translation: ${untranslated.join(" ")}`;
    try {
      if (!this.#options.isDryRun) await this.#destination.createTemplate(template);
      return null;
    } catch (fault) {
      if (!(fault instanceof RefusedCall) || fault.isAboutKey) throw fault;
      return fault.message;
    }
  }
}

function placeOf({ row }: Pick<SpooledPerson, "row">): string | undefined {
  return row === undefined ? undefined : `${row.file}, line ${row.line}`;
}

function sumOf(one: WrittenCounts, other: WrittenCounts): WrittenCounts {
  return {
    created: one.created + other.created,
    updated: one.updated + other.updated,
    unchanged: one.unchanged + other.unchanged,
    duplicates: one.duplicates + other.duplicates,
    invalid: one.invalid + other.invalid,
  };
}
