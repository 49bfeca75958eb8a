/** What the beginning of a file shows: how it is read, its first rows, and which field each column is for. */
import { type Static, Type } from "typebox";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { unguardFormula } from "#platform/csv/formulas.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { UploadedFile } from "#platform/http/request/uploads.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable } from "#platform/shapes.ts";
import { shownValue } from "./errors-file.ts";
import { describeFile, type GivenMeaning, ImportFile, SURVEY_LIMIT } from "./file-columns.ts";
import { hasAddress, MOST_SKIPPED } from "./mapping/column-mapping.ts";
import { type Layout, type LayoutChoice, openLayout, type Table, tableOf } from "./open-import-file.ts";
import { findOptOutColumns, unclearFileName } from "./opt-outs/find-columns.ts";

const MOST_ROWS = 10;
const LONGEST_CELL = 100;

const FirstRow = Type.Object(
  {
    line: Type.Integer({ minimum: 1, description: "The line of the file on which it begins." }),
    cells: Type.Array(Type.String(), {
      description: `Its cells in the order of \`columns\`, each shortened to ${LONGEST_CELL} characters.`,
    }),
  },
  { $id: "ImportFileRow" },
);

export const InspectedImportFile = Type.Object(
  {
    ...ImportFile.properties,
    rows: Type.Array(FirstRow, {
      description: `Its first rows below the header, at most ${MOST_ROWS}, as an import reads their text.`,
    }),
    warnings: Type.Array(Type.String(), {
      description: "What the sender ought to know about how the file is read.",
    }),
    refusal: nullable(
      Type.String({
        description:
          "Why an import with these choices and no others would be refused, such as a column that may say who gets no mail; null if it would not be. A `mapping` or another choice settles it.",
      }),
    ),
  },
  { $id: "InspectedImportFile" },
);

/**
 * @param upload the file or its beginning
 * @param choice how the sender says that it is read; a file without a header is recognised
 * @throws ApiError BAD_REQUEST for a file that is no table
 */
export async function inspectBeginning(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  upload: Pick<UploadedFile, "path" | "name">,
  choice: LayoutChoice,
): Promise<Static<typeof InspectedImportFile>> {
  const fields = await listFieldsInForce(db, workspaceId, mailingListId);
  const layout = await layoutOf(upload.path, choice);
  const table = await orRefusal(async () => tableOf(layout, choice, fields));
  const meaning =
    typeof table === "string" ? table : await orRefusal(() => meaningOf(table, upload.name, choice));
  const warnings = typeof table === "string" ? layout.warnings : table.warnings;
  return {
    ...(await describeFile(layout, fields, typeof meaning === "string" ? undefined : meaning)),
    rows: layout.beginning.slice(0, MOST_ROWS).map((row) => ({
      line: row.line,
      cells: layout.header.cells.slice(0, MOST_SKIPPED).map((_, place) => cellOf(row.cells[place])),
    })),
    warnings: [...warnings],
    refusal: typeof meaning === "string" ? meaning : null,
  };
}

/** A first row with an address is a person's. */
async function layoutOf(path: string, choice: LayoutChoice): Promise<Layout> {
  const layout = await openLayout(path, choice);
  const isOpen = choice.has_header === undefined || choice.has_header === null;
  if (!isOpen || !hasAddress(layout.header.cells)) return layout;
  return openLayout(path, { ...choice, has_header: false });
}

async function meaningOf(
  { file, header, columns }: Table,
  fileName: string,
  choice: LayoutChoice,
): Promise<GivenMeaning> {
  const optOuts = await findOptOutColumns(file, header, columns, {}, SURVEY_LIMIT);
  const unclear = unclearFileName(fileName, optOuts, {});
  if (unclear !== undefined) throw new ApiError("BAD_REQUEST", unclear);
  return { columns, optOuts, choice };
}

/** The result, or the sentence with which an import would be refused. */
async function orRefusal<Result extends object>(find: () => Promise<Result>): Promise<Result | string> {
  try {
    return await find();
  } catch (fault) {
    if (fault instanceof ApiError) return fault.message;
    throw fault;
  }
}

function cellOf(text = ""): string {
  return shownValue(unguardFormula(text.trim()).trim().slice(0, LONGEST_CELL));
}
