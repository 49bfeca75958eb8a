/** Imports of subscribers from a CSV file. */
import { type Static, Type } from "typebox";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { lockListsForUse, requireMailingList } from "#audience/mailing-lists/store.ts";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { encodingDescription, readEncodingName } from "#platform/csv/encodings.ts";
import { TooManyCells } from "#platform/csv/read.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { dateFormatDescription, readDateFormat } from "#platform/dates/input-date-format.ts";
import { ApiError, invalid, notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { maybeField } from "#platform/http/request/query.ts";
import { fileField, type UploadedFile } from "#platform/http/request/uploads.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { startWithInput } from "#platform/jobs/files.ts";
import { JobLabel, JobStarted, requirePlace, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { described, nullable } from "#platform/shapes.ts";
import { requireBytes, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { describeFile, ImportFile, SURVEY_LIMIT } from "./file-columns.ts";
import { IMPORT_JOB, type ImportInput } from "./import-job.ts";
import type { ReadOptions } from "./import-reader.ts";
import { InspectedImportFile, inspectBeginning } from "./inspect-beginning.ts";
import { ImportMapping } from "./mapping/mapping.ts";
import { openLayout, tableOf } from "./open-import-file.ts";
import { findOptOutColumns, unclearFileName } from "./opt-outs/find-columns.ts";

const MOST_BYTES = 50 * 1024 * 1024;
const MOST_INSPECTED_BYTES = 256 * 1024;

const ImportForm = Type.Object(
  {
    csvFile: fileField(
      "CSV with a header row that has an Email column; First, Last, Status and Source are optional, other columns are custom fields by name or label. At most 50 MB and 1,000,000 rows.",
    ),
    update_existing: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Whether names and custom fields of the file replace stored ones. If false, those of members stay (a worse status in the file is still set), and known people who join the list only get the values they lack.",
      }),
    ),
    resubscribe: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Whether members who unsubscribed become active again if the file says active, or nothing.",
      }),
    ),
    trigger_autoresponders: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Whether the list's autoresponders start for people who join by this import.",
      }),
    ),
    label: JobLabel,
    mapping: Type.Optional(ImportMapping),
    has_header: Type.Optional(
      Type.Boolean({
        description:
          "Whether the file has a header row. If absent, the file shows it: a first row with an address is a person's if `mapping` names columns by position only, and is refused otherwise.",
      }),
    ),
    encoding: Type.Optional(Type.String({ description: encodingDescription })),
    dry_run: Type.Optional(Type.Boolean({ description: "As in the query.", default: false })),
    date_format: Type.Optional(Type.String({ description: dateFormatDescription })),
    status: Type.Optional(
      Type.Enum([...subscriberStatuses], {
        description: "The status of all people in the file, unless their rows have a worse one.",
      }),
    ),
    opt_out_column: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 20,
        description:
          "The column that says who gets no mail, instead of columns found by their names. May be repeated; the worst status counts. `ignore` for none.",
      }),
    ),
  },
  { $id: "SubscriberImport" },
);

const InspectionForm = Type.Object(
  {
    csvFile: fileField(
      "The file, or its beginning with `is_beginning`. At most 256 kB; its name counts as in an import.",
    ),
    is_beginning: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Whether the rest of the file is missing: then a row or a character that is cut off at the end is left out.",
      }),
    ),
    has_header: Type.Optional(
      Type.Boolean({
        description: "Whether the file has a header row. If absent, a first row with an address is a person.",
      }),
    ),
    encoding: Type.Optional(Type.String({ description: encodingDescription })),
  },
  { $id: "ImportFileInspection" },
);

const ImportStarted = Type.Object(
  {
    ...JobStarted.properties,
    dry_run: Type.Boolean({ description: "Whether the job only reports what the import would do." }),
    file: nullable(
      described(
        ImportFile,
        "The columns as a first look finds them; null if the file is no table, which the job explains.",
      ),
    ),
  },
  { $id: "ImportStarted", description: "Follow the job at /jobs/{job_id}." },
);

export function importEndpoints(deps: StorageDeps & { readonly db: Database }): Endpoint[] {
  const { db } = deps;
  const needs = need(subscribers, "write");
  return [
    endpoint({
      id: "inspectImportFile",
      method: "POST",
      path: "/mailing-lists/{id}/subscribers/inspect-import-file",
      summary: "Show how an import would read a file, from its beginning",
      description:
        "Answers at once and stores nothing: the encoding, the delimiter, whether there is a header, the columns with the fields that their names and values suggest, and the first rows as an import reads them. Send the first 256 kB of a larger file with `is_beginning`. Begin a `mapping` with `columns`, and send `has_header` and a settled `encoding` with the import, which reads the whole file and may then guess another encoding or find faults further down: a dry run of `importSubscribers` shows those. A file that is no table is refused with the reason (400).",
      needs,
      body: InspectionForm,
      bodyLimit: MOST_INSPECTED_BYTES,
      answer: InspectedImportFile,
      message: "The file as an import reads it",
      unaudited: "only reads",
      errors: ["BAD_REQUEST"],
      async handle({ caller: { workspaceId }, params, body }) {
        await requireMailingList(db, workspaceId, params.id);
        return inspectBeginning(db, workspaceId, params.id, body.csvFile, {
          encoding: readEncodingName(body.encoding) ?? null,
          has_header: body.has_header ?? null,
          is_beginning: body.is_beginning ?? false,
        });
      },
    }),
    endpoint({
      id: "importSubscribers",
      method: "POST",
      path: "/mailing-lists/{id}/subscribers/import-async",
      summary: "Import subscribers from a CSV file, in the background",
      description:
        "Starts a background job and answers 202 with its id. Follow it at `GET /jobs/{job_id}`; rows that were refused are in the file of `GET /jobs/{job_id}/errors`. Existing people are updated. A worse status is never replaced by `active` unless `resubscribe` is true. `mapping` says which field each column is for; without it the header does, and `file` of the answer shows the columns with suggestions to begin a mapping with. Use `dry_run` first to see what the file would change. No subscriber events are sent.",
      needs,
      outward: "sends",
      query: {
        dry_run: maybeField(
          "Only report what the import would do: the job changes nothing, and its result is the report.",
          true,
        ),
      },
      body: ImportForm,
      bodyLimit: MOST_BYTES,
      answer: ImportStarted,
      status: 202,
      message: ({ dry_run }) =>
        dry_run ? "The dry run has started; nothing will be written" : "The import has started",
      errors: ["BAD_REQUEST", "CONFLICT", "PLAN_LIMIT_REACHED"],
      async handle({ caller: { workspaceId, actor }, params, query, body }) {
        const { name } = await requireMailingList(db, workspaceId, params.id);
        const input: ImportInput = {
          mailing_list_id: params.id,
          file_name: body.csvFile.name,
          update_existing: body.update_existing ?? true,
          resubscribe: body.resubscribe ?? false,
          trigger_autoresponders: body.trigger_autoresponders ?? false,
          encoding: readEncodingName(body.encoding) ?? null,
          date_format: readDateFormat(body.date_format) ?? null,
          dry_run: readDryRun(query.dry_run, body.dry_run),
          status: body.status ?? null,
          opt_out_column: body.opt_out_column ?? null,
          mapping: body.mapping ?? null,
          has_header: body.has_header ?? null,
        };
        const file = await lookAtFile(db, workspaceId, params.id, body.csvFile, input);
        const started = await startWithInput(db, workspaceId, body.csvFile.path, async (tx, id) => {
          if ((await lockListsForUse(tx, workspaceId, [params.id])) === 0) throw notFound("Mailing list");
          await requirePlace(tx, workspaceId, IMPORT_JOB, "imports");
          await requireBytes(deps, tx, workspaceId, body.csvFile.bytes);
          const resource = { kind: mailingLists.name, id: params.id, name };
          const origin = { actor, label: body.label, fileName: input.file_name, resource };
          return startJob(tx, workspaceId, { id, type: IMPORT_JOB, needs, input, origin });
        });
        return { ...started, dry_run: input.dry_run, file };
      },
    }),
  ];
}

/** @throws ApiError VALIDATION_ERROR if query and form contradict each other */
function readDryRun(inQuery: boolean | undefined, inForm: boolean | undefined): boolean {
  if (inQuery !== undefined && inForm !== undefined && inQuery !== inForm) {
    const message = `dry_run is ${inQuery} in the query and ${inForm} in the form: send one of them`;
    throw invalid({ field: "dry_run", message });
  }
  return inQuery ?? inForm ?? false;
}

/**
 * Looks at the beginning of an upload while the caller waits. Refuses it at once when its mapping does not fit, and when its
 * sender has to decide which column says who gets no mail. All other faults are found by the job, which reads the whole file.
 * @returns undefined for a file that is no table
 * @throws ApiError BAD_REQUEST for a doubtful column or file name and for too many columns; VALIDATION_ERROR for a mapping
 * or an opt_out_column that names what the file or the list does not have
 */
async function lookAtFile(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  { path, name: fileName }: Pick<UploadedFile, "path" | "name">,
  options: ReadOptions,
): Promise<Static<typeof ImportFile> | null> {
  const fields = await listFieldsInForce(db, workspaceId, mailingListId);
  const layout = await unlessForJob(openLayout(path, options));
  if (layout === undefined) return null;
  const table = await unlessForJob((async () => tableOf(layout, options, fields))());
  if (table === undefined) return describeFile(layout, fields, undefined);
  const { file, header, columns } = table;
  const optOuts = await findOptOutColumns(file, header, columns, options, SURVEY_LIMIT);
  const unclear = unclearFileName(fileName, optOuts, options);
  if (unclear !== undefined) throw new ApiError("BAD_REQUEST", unclear);
  return describeFile(layout, fields, { columns, optOuts, choice: options });
}

/** Undefined for a refusal that the job repeats. */
async function unlessForJob<Result>(look: Promise<Result>): Promise<Result | undefined> {
  try {
    return await look;
  } catch (fault) {
    const isForJob =
      fault instanceof ApiError && fault.code !== "VALIDATION_ERROR" && !(fault instanceof TooManyCells);
    if (isForJob) return undefined;
    throw fault;
  }
}
