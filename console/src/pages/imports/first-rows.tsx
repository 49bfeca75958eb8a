/** The first rows of the file as they are read, so that a wrong encoding or delimiter is seen. */
import type { Schema } from "@posthaste/client";
import { type FileLook, firstRows } from "./read-file.ts";

const SHOWN = 5;
const LONGEST_CELL = 60;

export function FirstRows({ look, file }: { readonly look: FileLook; readonly file: Schema<"ImportFile"> }) {
  const { rows } = firstRows(look, file);
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const start = file.has_header ? headerPlace(filled, file) + 1 : 0;
  const shown = filled.slice(start, start + SHOWN);
  const names = file.columns.map(({ column, position }) => (file.has_header ? column : `Column ${position}`));
  return (
    <section
      aria-label="First rows"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: wide rows are scrolled by the keyboard
      tabIndex={0} // oxlint-disable-line jsx-a11y/no-noninteractive-tabindex
      className="overflow-x-auto rounded-control border border-line"
    >
      <table className="min-w-full border-collapse text-table">
        <thead>
          <tr>
            {names.map((name, index) => (
              <th
                key={String(index)}
                scope="col"
                className="h-8 border-b border-line bg-sunken px-3 text-left text-small font-medium whitespace-nowrap text-muted"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((cells, row) => (
            <tr key={String(row)} className="border-b border-line/60 last:border-0">
              {names.map((_, index) => (
                <td key={String(index)} className="h-8 px-3 whitespace-nowrap">
                  {shortened(cells[index] ?? "")}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The row that names the columns as the service found it; there may be a title above. */
function headerPlace(rows: readonly (readonly string[])[], { columns }: Schema<"ImportFile">): number {
  const names = new Set(columns.map(({ column }) => column));
  const place = rows.findIndex((cells) => cells.some((cell) => cell.trim() !== "" && names.has(cell.trim())));
  return Math.max(0, place);
}

function shortened(text: string): string {
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}
