/** What a run did: counts, and a CSV file with everything that did not come over. */
import { appendFile, rm, writeFile } from "node:fs/promises";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { table } from "#cli/command/output.ts";
import { counted } from "#platform/count-phrase.ts";
import { csvLine } from "#platform/csv/write.ts";
import type { PlannedField } from "./field-survey.ts";
import { type GivenOmission, type OmissionKind, omissionKinds } from "./source.ts";

interface ListResult {
  readonly name: string;
  /** False: a list of this name was there, and was used. */
  readonly is_new: boolean;
  readonly people: Readonly<Record<SubscriberStatus, number>>;
  /** What the import did; null in a dry run. */
  readonly written: WrittenCounts | null;
}

export interface WrittenCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly duplicates: number;
  readonly invalid: number;
}

interface SuppressionResult {
  readonly name: string;
  readonly is_new: boolean;
  readonly read: number;
  /** Null in a dry run. */
  readonly added: number | null;
}

interface TemplateResult {
  readonly name: string;
  readonly outcome: "created" | "known" | "would be created" | "not created";
  /** Why it was not created. */
  readonly reason: string | null;
}

/** The rest is only counted. */
const MOST_LISTED = 1_000_000;
const WAITING_LINES = 500;

export class MigrationReport {
  readonly #path: string;
  readonly #omissions = new Map<OmissionKind, number>();
  readonly #notes = new Set<string>();
  #waiting: string[] = [];
  #listed = 0;
  readonly lists: ListResult[] = [];
  readonly fields: (Pick<PlannedField, "field_name" | "field_type"> & { readonly is_new: boolean })[] = [];
  readonly suppressions: SuppressionResult[] = [];
  readonly templates: TemplateResult[] = [];
  /** People of the source, whatever became of them. */
  peopleRead = 0;
  /** Whether the run completed. */
  isComplete = false;

  /** @param path of the CSV file of what does not come */
  constructor(path: string) {
    this.#path = path;
  }

  note(sentence: string): void {
    this.#notes.add(sentence);
  }

  async omit({ what, where, name, reason }: Omit<GivenOmission, "kind">): Promise<void> {
    this.#omissions.set(what, (this.#omissions.get(what) ?? 0) + 1);
    if (this.#listed >= MOST_LISTED) return;
    if (this.#listed === 0) await writeFile(this.#path, csvLine(["Kind", "Where", "Name", "Reason"]));
    this.#listed++;
    const cells = [what, where, name, reason].map((text) => text.replaceAll("\0", "").toWellFormed());
    this.#waiting.push(csvLine(cells));
    if (this.#waiting.length >= WAITING_LINES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const lines = this.#waiting.splice(0);
    if (lines.length > 0) await appendFile(this.#path, lines.join(""));
  }

  /** Completes the file. A file of an earlier run goes if this one completed and left nothing out. */
  async close(): Promise<void> {
    if (this.#listed === 0 && this.isComplete) await rm(this.#path, { force: true });
    await this.#flush();
  }

  /** Whether the run ended before there was anything to report. */
  get isEmpty(): boolean {
    const results = [this.lists, this.fields, this.suppressions, this.templates];
    const known = this.peopleRead + this.#omissions.size + this.#notes.size;
    return known === 0 && results.every(({ length }) => length === 0);
  }

  asJson(source: string, isDryRun: boolean) {
    return {
      source,
      dry_run: isDryRun,
      complete: this.isComplete,
      people_read: this.peopleRead,
      lists: this.lists,
      custom_fields: this.fields,
      suppressions: this.suppressions,
      templates: this.templates,
      left_out: Object.fromEntries(omissionKinds.map((what) => [what, this.#omissions.get(what) ?? 0])),
      left_out_file: this.#listed === 0 ? null : this.#path,
      notes: [...this.#notes],
    };
  }

  asText(isDryRun: boolean): string {
    const newOrKnown = (isNew: boolean) => (isNew ? (isDryRun ? "would be created" : "created") : "known");
    const lists = this.lists.map(({ name, is_new, people, written }) => ({
      list: name,
      is: newOrKnown(is_new),
      ...people,
      ...(written !== null && { new: written.created, changed: written.updated, same: written.unchanged }),
    }));
    const parts = [
      tableOf("", lists),
      tableOf(
        "Custom fields",
        this.fields.map(({ field_name, field_type, is_new }) => ({
          field: field_name,
          type: field_type,
          is: newOrKnown(is_new),
        })),
      ),
      tableOf(
        "Suppression lists",
        this.suppressions.map(({ name, is_new, read, added }) => ({
          list: name,
          is: newOrKnown(is_new),
          read,
          ...(added !== null && { new: added }),
        })),
      ),
      tableOf(
        "Templates",
        this.templates.map(({ name, outcome, reason }) => ({ template: name, is: outcome, reason })),
      ),
      [...this.#notes].map((note) => `${note}\n`).join(""),
      this.#omitted(),
      isDryRun ? "Nothing was written: this was a dry run.\n" : "",
      this.isComplete ? "" : "The run ended early: this is what it did until then.\n",
    ];
    return parts.filter((part) => part !== "").join("\n");
  }

  #omitted(): string {
    const words: Readonly<Record<OmissionKind, string>> = {
      person: "person",
      duplicate: "duplicate",
      value: "value",
      suppression: "suppression",
      template: "template",
      field: "custom field",
    };
    const plural = (what: OmissionKind) => (what === "person" ? "people" : `${words[what]}s`);
    const counts = omissionKinds.flatMap((what) => {
      const count = this.#omissions.get(what);
      return count === undefined ? [] : counted(count, words[what], plural(what));
    });
    return counts.length === 0
      ? ""
      : `Left out: ${counts.join(", ")}. ${this.#path} has each with the reason.\n`;
  }
}

type Row = Readonly<Record<string, string | number | boolean | null>>;

function tableOf(title: string, rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  return `${title === "" ? "" : `${title}:\n`}${table(Object.keys(first), rows)}`;
}
