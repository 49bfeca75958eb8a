/** The results of imports and of dry runs, as the API answers them. */
import { Type } from "typebox";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { dateOrders } from "#platform/dates/input-date-format.ts";
import { type JobOutcomeShape, jobCount } from "#platform/jobs/job-shape.ts";
import { nullable } from "#platform/shapes.ts";
import { FileColumn } from "./file-columns.ts";
import { ImportMapping } from "./mapping/mapping.ts";

const rows = (description: string) => Type.Integer({ minimum: 0, description });
const texts = (description: string) => Type.Array(Type.String(), { description });
const Status = Type.Enum([...subscriberStatuses], { description: "The status that the row gives." });

const OptOutCount = Type.Object(
  {
    column: Type.String({ description: "Its header, or its position." }),
    opted_out: rows("Rows that it opts out of mail."),
  },
  { $id: "ImportOptOutColumn", description: "A column that says who gets no mail." },
);

const read = {
  file_name: Type.String({ description: "Name of the file as it was sent." }),
  rows: rows("Rows of the file below its header."),
  duplicates: rows("Rows that another row of the same address replaced."),
  invalid: rows("Rows that were refused."),
  encoding: Type.String({ description: "The encoding as which the file was read." }),
  delimiter: Type.String({ description: "What separates its cells." }),
  skipped_columns: texts("Columns that are not imported, by their headers or positions."),
  opt_out_columns: Type.Array(OptOutCount, { description: "Columns that say who gets no mail." }),
  warnings: texts("What the sender ought to know."),
};

const written_in_part = rows("Rows with errors that were written for their status only.");

const ImportResult = Type.Object(
  {
    ...read,
    dry_run: Type.Literal(false, { description: "It was no dry run." }),
    created: rows("People who joined the list."),
    updated: rows("Members who were changed."),
    unchanged: rows("Members in whom nothing changed."),
    written_in_part,
  },
  { $id: "ImportResult", description: "What an import did." },
);

const ReadColumn = Type.Object(
  {
    ...FileColumn.properties,
    samples: Type.Optional(FileColumn.properties.samples),
    meaning: nullable(
      Type.String({ description: "What it is read as, with `, ` between two meanings; null if skipped." }),
    ),
  },
  { $id: "ImportReadColumn", description: "A column as the whole file was read." },
);

const line = Type.Integer({ minimum: 1, description: "The line of the file." });
const person = { line, email: Type.String({ description: "The address." }) };
const ExamplePerson = Type.Object(person, { $id: "ImportExample" });

const Examples = Type.Object(
  {
    new: Type.Array(ExamplePerson, { description: "People who would join the list." }),
    known: Type.Array(ExamplePerson, { description: "People who are on it." }),
    opted_out: Type.Array(
      Type.Object(
        {
          ...person,
          status: Status,
          column: nullable(Type.String({ description: "The column that says so; null for the request." })),
        },
        { $id: "ImportOptOutExample" },
      ),
      { description: "People who get no mail, because the file says so." },
    ),
    refused: Type.Array(
      Type.Object(
        {
          line,
          column: Type.String({ description: "The column of the error." }),
          value: Type.String({ description: "Its value, shortened." }),
          reason: Type.String({ description: "Why it is refused." }),
          written_as: nullable(
            Type.Enum([...subscriberStatuses], {
              description: "The status with which the row is written in part; null if the row is refused.",
            }),
          ),
        },
        { $id: "ImportErrorExample" },
      ),
      { description: "Errors of rows." },
    ),
  },
  {
    $id: "ImportExamples",
    description: "The first five of each kind; absent for callers who may not read people.",
  },
);

const ImportDryRunResult = Type.Object(
  {
    ...read,
    dry_run: Type.Literal(true, { description: "Nothing was written." }),
    created: rows("People who would join the list."),
    new_to_workspace: rows("Those of them who are new to the workspace."),
    updated: rows("Members who would be changed."),
    unchanged: rows("Members in whom nothing would change."),
    opted_out: rows("People who would get no mail, because the file says so."),
    written_in_part,
    date_order: nullable(
      Type.Enum([...dateOrders], { description: "The order of its dates; null if they show none." }),
    ),
    has_header: Type.Boolean({ description: "Whether it was read with a header row." }),
    header_line: nullable(
      Type.Integer({ minimum: 1, description: "The line of the header row; null without one." }),
    ),
    mapping: nullable(ImportMapping),
    columns: Type.Array(ReadColumn, { description: "Its columns, the first 200." }),
    examples: Type.Optional(Examples),
  },
  { $id: "ImportDryRunResult", description: "What an import of the file would do." },
);

export const importOutcome: JobOutcomeShape = {
  name: "SubscriberImportJob",
  about: "An import of subscribers, or a dry run of one (`result.dry_run`).",
  counts: { unchanged: jobCount("Members in whom nothing changed.") },
  results: [ImportResult, ImportDryRunResult],
};
