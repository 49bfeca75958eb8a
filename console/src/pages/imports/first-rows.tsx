/** The first rows of the file as the service reads them, so that a wrong encoding or delimiter is seen. */
import type { FileColumns } from "./use-file-columns.ts";

const SHOWN = 5;
const LONGEST_CELL = 60;

export function FirstRows({ file }: { readonly file: NonNullable<FileColumns["columns"]> }) {
  const names = file.columns.map(({ column, position }) => (file.has_header ? column : `Column ${position}`));
  return (
    <section
      aria-label="First rows"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: wide rows are scrolled by the keyboard
      tabIndex={0}
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
          {file.rows.slice(0, SHOWN).map(({ line, cells }) => (
            <tr key={line} className="border-b border-line/60 last:border-0">
              {cells.map((cell, index) => (
                <td key={String(index)} className="h-8 px-3 whitespace-nowrap">
                  {shortened(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function shortened(text: string): string {
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}
