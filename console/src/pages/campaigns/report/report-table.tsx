/** A table of figures on the report: nothing in it opens, its numbers are links where they count people. */
import type { Key, ReactNode } from "react";

export interface FigureColumn<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers take the room that they need, texts what is left of it. */
  readonly isNumeric?: boolean;
  /** Hidden on narrow screens. */
  readonly isSecondary?: boolean;
}

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly FigureColumn<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => Key;
}

export function ReportTable<Row>({ label, columns, rows, idOf }: Props<Row>) {
  const look = ({ isNumeric, isSecondary }: FigureColumn<Row>) =>
    `${isNumeric ? "pl-4 text-right whitespace-nowrap" : "w-full max-w-0 truncate text-left"} ${isSecondary ? "max-md:hidden" : ""}`;
  return (
    <table aria-label={label} className="w-full border-collapse text-table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.head}
              scope="col"
              className={`h-8 border-b border-line text-small font-medium text-muted ${look(column)}`}
            >
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={idOf(row)} className="h-9 border-b border-line/60">
            {columns.map((column) => (
              <td key={column.head} className={look(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Lines of the height of what comes. */
export function Waiting({ lines }: { readonly lines: number }) {
  return (
    <div aria-hidden className="animate-appear">
      {Array.from({ length: lines }, (_, index) => (
        <div key={String(index)} className="flex h-9 items-center">
          <span className="h-3 rounded bg-sunken" style={{ width: `${40 + ((index * 37) % 50)}%` }} />
        </div>
      ))}
    </div>
  );
}
