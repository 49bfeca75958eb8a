/** What is known of the columns of an import file: their names, some values, and the fields they are for. */
import { type Static, Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { ApiError } from "#platform/errors.ts";
import { nullable } from "#platform/shapes.ts";
import { shownValue } from "./errors-file.ts";
import { columnAt, type FoundColumns, findColumns, MOST_SKIPPED } from "./mapping/column-mapping.ts";
import { CUSTOM_PREFIX, plainTargets, stateTargets } from "./mapping/mapping.ts";
import type { Layout, LayoutChoice } from "./open-import-file.ts";
import {
  findOptOutColumns,
  namesOptOutColumns,
  type OptOutChoice,
  type OptOutColumn,
} from "./opt-outs/find-columns.ts";
import type { LookLimit } from "./opt-outs/survey-cells.ts";

const MOST_SAMPLES = 3;
const LONGEST_SAMPLE = 100;

export const FileColumn = Type.Object(
  {
    position: Type.Integer({ minimum: 1, description: "Its position, counted from 1." }),
    column: Type.String({
      description: "Its header, at most 100 characters; `column 3` for one without a name.",
    }),
    field: nullable(
      Type.String({
        description:
          "The field it is read as, in the words of `mapping`; null if it is not imported, or the file cannot be read with this header and mapping.",
      }),
    ),
    suggested_field: nullable(
      Type.String({
        description: "The field that its name and values suggest without a mapping; null for none.",
      }),
    ),
    samples: Type.Array(Type.String(), {
      maxItems: MOST_SAMPLES,
      description: `Different values among the first hundred rows, at most ${MOST_SAMPLES}, each of at most ${LONGEST_SAMPLE} characters.`,
    }),
  },
  { $id: "ImportFileColumn" },
);

export const ImportFile = Type.Object(
  {
    encoding: Type.String({ description: "Its encoding, as found or as the request says." }),
    is_encoding_guessed: Type.Boolean({
      description: "Whether the encoding is a guess: send `encoding` to settle it.",
    }),
    delimiter: Type.String({ description: "What separates its cells: a comma, semicolon, tab or bar." }),
    has_header: Type.Boolean({ description: "Whether it is read with a header row." }),
    header_line: nullable(
      Type.Integer({ minimum: 1, description: "The line of the header row; null without one." }),
    ),
    column_count: Type.Integer({ minimum: 1, description: "Number of its columns." }),
    columns: Type.Array(FileColumn, { description: `Its columns in order, the first ${MOST_SKIPPED}.` }),
  },
  { $id: "ImportFile" },
);

interface Meaning {
  readonly columns: FoundColumns;
  readonly optOuts: readonly OptOutColumn[];
}

/** The meaning that columns were given. */
export interface GivenMeaning extends Meaning {
  /** What the sender decided about them; without a decision, they have the meaning that the file suggests. */
  readonly choice: LayoutChoice & OptOutChoice;
}

/**
 * @param given the meaning of the columns; undefined if they have none, because the file cannot be read so
 * @param fields those in force on the list
 */
export async function describeFile(
  layout: Layout,
  fields: readonly CustomField[],
  given: GivenMeaning | undefined,
): Promise<Static<typeof ImportFile>> {
  const { file, header, hasHeader } = layout;
  return {
    encoding: file.encoding,
    is_encoding_guessed: file.isGuessed,
    delimiter: file.delimiter,
    has_header: hasHeader,
    header_line: hasHeader ? header.line : null,
    column_count: header.cells.length,
    columns: await describeColumns(layout, fields, given),
  };
}

/** The first columns of the file. @param given and fields as for describeFile */
export async function describeColumns(
  layout: Layout,
  fields: readonly CustomField[],
  given: GivenMeaning | undefined,
): Promise<Static<typeof FileColumn>[]> {
  const { cells } = layout.header;
  const named = given && fieldsOf(given);
  const isSuggested = given !== undefined && !given.choice.mapping && !namesOptOutColumns(given.choice);
  const suggested = isSuggested ? named : fieldsOf(await suggest(layout, fields));
  return cells.slice(0, MOST_SKIPPED).map((_, place) => ({
    position: place + 1,
    column: columnAt(cells, place).header,
    field: named?.get(place) ?? null,
    suggested_field: suggested?.get(place) ?? null,
    samples: samplesOf(layout, place),
  }));
}

/** How much of the file is read for a suggestion. */
export const SURVEY_LIMIT: LookLimit = { rows: 5_000, cells: 50_000 };

async function suggest(layout: Layout, fields: readonly CustomField[]): Promise<Meaning> {
  const { file, header, beginning } = layout;
  const rows = beginning.map(({ cells }) => cells);
  const columns = findColumns(header.cells, fields, rows);
  const others = { ...columns, email: columns.email ?? { place: -1 } };
  try {
    // With a status for the whole file, a doubtful column is not refused.
    const optOuts = await findOptOutColumns(file, header, others, { status: "unsubscribed" }, SURVEY_LIMIT);
    return { columns, optOuts };
  } catch (fault) {
    // A row that cannot be read: reading the whole file refuses it, with its line.
    if (fault instanceof ApiError) return { columns, optOuts: [] };
    throw fault;
  }
}

/** The fields of columns by their indexes, in the words of a mapping. */
function fieldsOf({ columns, optOuts }: Meaning): Map<number, string> {
  const states = Object.entries(stateTargets);
  const fields = new Map<number, string>();
  for (const { place, meaning } of optOuts) {
    const [target = "status"] = states.find(([, one]) => one === meaning) ?? [];
    fields.set(place, target);
  }
  for (const { place, field } of columns.custom) fields.set(place, `${CUSTOM_PREFIX}${field.field_name}`);
  for (const target of plainTargets) {
    const column = columns[target];
    if (column !== undefined) fields.set(column.place, target);
  }
  return fields;
}

function samplesOf({ beginning }: Layout, place: number): string[] {
  const samples = new Set<string>();
  for (const { cells } of beginning) {
    const sample = shownValue((cells[place] ?? "").trim().slice(0, LONGEST_SAMPLE));
    if (sample !== "") samples.add(sample);
    if (samples.size === MOST_SAMPLES) break;
  }
  return [...samples];
}
