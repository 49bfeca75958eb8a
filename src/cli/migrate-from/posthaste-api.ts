/** The calls of the API of the Posthaste that receives the data. */
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Static, type TSchema, Type } from "typebox";
import { CustomField } from "#audience/custom-fields/custom-field.ts";
import { AddedEntries } from "#audience/suppression-lists/suppression-list.ts";
import type { PlannedField } from "./field-survey.ts";
import { RemoteApi } from "./remote-api.ts";
import type { WrittenCounts } from "./report.ts";
import type { GivenTemplate } from "./source.ts";

const data = <Shape extends TSchema>(shape: Shape) => Type.Object({ data: shape });
const Named = Type.Object({ id: Type.String(), name: Type.String() });
type Named = Static<typeof Named>;
const Started = Type.Object({ job_id: Type.String() });
const Count = Type.Integer();
const Job = Type.Object({
  status: Type.String(),
  processed: Count,
  error: Type.Union([Type.Null(), Type.String()]),
  error_rows_url: Type.Union([Type.Null(), Type.String()]),
  counts: Type.Object({
    created: Count,
    updated: Count,
    duplicates: Count,
    invalid: Count,
    unchanged: Type.Optional(Count),
  }),
  result: Type.Unknown(),
});
const TemplatePage = Type.Object({
  templates: Type.Array(Type.Object({ name: Type.String(), kind: Type.String() })),
  pagination: Type.Object({ page: Type.Integer(), total_pages: Type.Integer() }),
});
/** The parts of a custom field that decide what it takes. */
export const KnownField = Type.Pick(CustomField, [
  "id",
  "field_name",
  "field_type",
  "field_options",
  "validation_rules",
  "is_active",
]);
export type KnownField = Static<typeof KnownField>;

const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 5_000;
/** An import may wait for others, but makes some progress within this time. */
const MOST_SILENT_MS = 30 * 60_000;
const TEMPLATES_PER_PAGE = 100;

export interface Imported {
  readonly counts: WrittenCounts;
  readonly warnings: readonly string[];
  readonly hasErrorRows: boolean;
  readonly jobId: string;
}

export class PosthasteApi {
  readonly #api: RemoteApi;
  readonly #url: URL;

  constructor(url: URL, key: string) {
    this.#url = new URL("/api/v1", url);
    this.#api = new RemoteApi({
      name: "Posthaste",
      base: this.#url,
      headers: { "X-API-Key": key },
      secretName: "POSTHASTE_KEY",
    });
  }

  async mailingLists(): Promise<Named[]> {
    return (await this.#api.get("/mailing-lists", data(Type.Array(Named)))).data;
  }

  async createMailingList(list: {
    readonly name: string;
    readonly description: string;
    readonly opt_in_type: string;
  }): Promise<string> {
    return (await this.#api.post("/mailing-lists", data(Named), { body: list })).data.id;
  }

  /** The global custom fields, or those of one list. */
  async customFields(listId?: string): Promise<KnownField[]> {
    const path = listId === undefined ? "/custom-fields/global" : `/mailing-lists/${listId}/custom-fields`;
    return (await this.#api.get(path, data(Type.Array(KnownField)))).data;
  }

  async createCustomField(field: PlannedField): Promise<KnownField> {
    const { field_options, ...plain } = field;
    const body = field_options === null ? plain : field;
    return (await this.#api.post("/custom-fields/global", data(KnownField), { body })).data;
  }

  async changeChoices(id: string, options: KnownField["field_options"]): Promise<void> {
    await this.#api.send("PUT", `/custom-fields/global/${id}`, { body: { field_options: options } });
  }

  async suppressionLists(): Promise<Named[]> {
    const answer = await this.#api.get(
      "/suppression-lists",
      data(Type.Object({ suppression_lists: Type.Array(Named) })),
    );
    return answer.data.suppression_lists;
  }

  async createSuppressionList(name: string, description: string): Promise<string> {
    const body = { name, description };
    return (await this.#api.post("/suppression-lists", data(Named), { body })).data.id;
  }

  async addSuppressions(listId: string, entries: readonly string[]): Promise<Static<typeof AddedEntries>> {
    const sent = { body: { entries: entries.join("\n") }, isRepeatable: true };
    return (await this.#api.post(`/suppression-lists/${listId}/entries`, data(AddedEntries), sent)).data;
  }

  /** The names of templates and layouts. */
  async templateNames(): Promise<Set<string>> {
    const names = new Set<string>();
    for (let page = 1; ; page++) {
      const query = { page, limit: TEMPLATES_PER_PAGE };
      const { templates, pagination } = (await this.#api.get("/templates", data(TemplatePage), query)).data;
      for (const { name } of templates) names.add(name);
      if (pagination.page >= pagination.total_pages) return names;
    }
  }

  async createTemplate({ template, name, subject, html, text }: GivenTemplate): Promise<void> {
    const content = { html_content: html, ...(text !== null && { text_content: text }) };
    const body =
      template === "layout" ? { kind: template, name, html_content: html } : { name, subject, ...content };
    await this.#api.post("/templates", data(Named), { body });
  }

  /**
   * Imports a CSV file whose column Status alone says who gets no mail, and waits for the end of the job. Imports send no
   * mail, no confirmation either, and start no autoresponder.
   * @throws Error if the job does not complete
   */
  async importPeople(listId: string, path: string, keepsExisting: boolean, label: string): Promise<Imported> {
    const body = new FormData();
    body.append("csvFile", await openAsBlob(path), basename(path));
    body.append("opt_out_column", "Status");
    body.append("update_existing", String(!keepsExisting));
    body.append("label", label);
    const started = await this.#api.post(`/mailing-lists/${listId}/subscribers/import-async`, data(Started), {
      body,
      isRepeatable: true,
    });
    return this.#endOf(started.data.job_id, label);
  }

  async #endOf(jobId: string, label: string): Promise<Imported> {
    let last = "";
    let changedAt = Date.now();
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(LONGEST_LOOK_MS, wait * 1.5)) {
      const job = (await this.#api.get(`/jobs/${jobId}`, data(Job))).data;
      if (job.status === "completed") return importedOf(jobId, job);
      if (job.status !== "pending" && job.status !== "processing") {
        throw new Error(`The import of ${label} ended as ${job.status}: ${job.error ?? `see job ${jobId}`}`);
      }
      const state = `${job.status} ${job.processed}`;
      if (state !== last) changedAt = Date.now();
      else if (Date.now() - changedAt > MOST_SILENT_MS) {
        throw new Error(
          `The import of ${label} makes no progress: see whether a process with the role jobs runs`,
        );
      }
      last = state;
      await delay(wait);
    }
  }

  /** Writes the refused rows of an import to a file: CSV, the reasons in the last column. */
  async downloadErrorRows(jobId: string, path: string): Promise<void> {
    await this.#api.download(
      new URL(`${this.#url.pathname}/jobs/${jobId}/errors?layout=rows`, this.#url),
      path,
    );
  }
}

function importedOf(jobId: string, { counts, result, error_rows_url }: Static<typeof Job>): Imported {
  const { warnings } = Object(result) as { readonly warnings?: unknown };
  const texts = Array.isArray(warnings) ? warnings.filter((one) => typeof one === "string") : [];
  return {
    jobId,
    counts: { ...counts, unchanged: counts.unchanged ?? 0 },
    warnings: texts,
    hasErrorRows: error_rows_url !== null,
  };
}
